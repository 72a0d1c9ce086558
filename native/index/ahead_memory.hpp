#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace errata {

constexpr std::size_t kHugePage = std::size_t{2} << 20;  // x86-64 and most arm64 kernels

/// Memory that another thread gets and touches before it is needed: the kernel gives pages at their first
/// touch, 4 ms for the 10 MB of a million nodes, and on some virtual machines 6 ms for one huge page. One
/// writer at a time; `bytes()` may be asked beside it.
class AheadMemory {
 public:
  /// Aligned to a huge page, and advised to be on such, or for pointers.
  explicit AheadMemory(bool huge) : huge_(huge) {}
  ~AheadMemory() { free(take()); }
  AheadMemory(const AheadMemory&) = delete;
  AheadMemory& operator=(const AheadMemory&) = delete;

  /// Begins unless something is there or under way.
  void prepare(std::size_t bytes) {
    if (memory_.valid()) return;
    memory_ = std::async(std::launch::async, [this, bytes]() -> char* {
      char* data = allocate(bytes);
      for (std::size_t at = 0; data != nullptr && at < bytes; at += kPage)
        static_cast<volatile char*>(data)[at] = 0;
      return data;
    });
    bytes_.store(bytes);
  }
  bool begun() const { return memory_.valid(); }
  bool ready() const {
    return memory_.valid() && memory_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  void wait() const { memory_.wait(); }
  /// Of what was begun; 0: nothing.
  std::size_t bytes() const { return bytes_.load(); }
  /// Not touched.
  char* allocate(std::size_t bytes) const {
    char* data = static_cast<char*>(::operator new(bytes, alignment(), std::nothrow));
#if defined(__linux__)
    if (data != nullptr && huge_) (void)madvise(data, bytes, MADV_HUGEPAGE);
#endif
    return data;
  }
  void free(char* data) const {
    ::operator delete(data, alignment());
  }
  /// Waits for it; null where nothing was begun or there is none.
  char* take() {
    bytes_.store(0);
    return memory_.valid() ? memory_.get() : nullptr;
  }

  static constexpr std::align_val_t kPlain{alignof(void*)};

 private:
  static constexpr std::size_t kPage = 4096;

  std::align_val_t alignment() const {
    return huge_ ? std::align_val_t(kHugePage) : kPlain;
  }

  const bool huge_;
  std::future<char*> memory_;
  std::atomic<std::size_t> bytes_{0};
};

/// The next allocation of just that size by this thread's NothrowAllocator: USearch makes its allocators
/// itself, so that there is no other way to hand memory to them.
struct OfferedMemory {
  OfferedMemory(char* data, std::size_t bytes) { offered() = {data, bytes}; }
  ~OfferedMemory() {
    ::operator delete(offered().first, AheadMemory::kPlain);
    offered() = {};
  }
  OfferedMemory(const OfferedMemory&) = delete;
  OfferedMemory& operator=(const OfferedMemory&) = delete;

  /// Null where there is none of that size.
  static char* take(std::size_t bytes) {
    return offered().first != nullptr && offered().second == bytes ? std::exchange(offered(), {}).first
                                                                   : nullptr;
  }

 private:
  static std::pair<char*, std::size_t>& offered() {
    static thread_local std::pair<char*, std::size_t> memory;
    return memory;
  }
};

}  // namespace errata
