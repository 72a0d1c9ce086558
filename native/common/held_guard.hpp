#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

#if defined(__linux__) || defined(__APPLE__)
#include <time.h>
#endif

#include "common/rw_lock.hpp"

namespace errata {

/// Nanoseconds of processor time of this thread, so that what else the machine does is not counted; of the
/// wall clock where the system does not tell.
inline std::int64_t thread_cpu_ns() {
#if defined(__linux__) || defined(__APPLE__)
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#else
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
#endif
}

/// Longest time that a lock was held at once. Thread-safe.
class LongestHold {
 public:
  void note(std::int64_t ns) {
    std::int64_t seen = longest_ns_.load(std::memory_order_relaxed);
    while (ns > seen && !longest_ns_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
    }
  }
  double us() const { return static_cast<double>(longest_ns_.load(std::memory_order_relaxed)) / 1e3; }

 private:
  std::atomic<std::int64_t> longest_ns_{0};
};

/// Holds a lock and notes for how long (0.5 us): whoever wants to write waits for no longer than the longest.
template <typename Guard>
class HeldGuard {
 public:
  HeldGuard(RwLock& lock, LongestHold& longest)
      : guard_(lock), longest_(longest), start_ns_(thread_cpu_ns()) {}
  ~HeldGuard() { longest_.note(thread_cpu_ns() - start_ns_); }
  HeldGuard(const HeldGuard&) = delete;
  HeldGuard& operator=(const HeldGuard&) = delete;

 private:
  Guard guard_;
  LongestHold& longest_;
  const std::int64_t start_ns_;
};

using HeldShared = HeldGuard<std::shared_lock<RwLock>>;
using HeldAlone = HeldGuard<std::unique_lock<RwLock>>;

}  // namespace errata
