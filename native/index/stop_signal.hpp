#pragma once

#include <atomic>
#include <chrono>

#include "common/status.hpp"

namespace errata {

/// Tells work under way to end early: cancelled by the caller, or past its deadline. Asked every few
/// microseconds of work, never a row.
class StopSignal {
 public:
  using Clock = std::chrono::steady_clock;

  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }

  Code reason() const {
    if (cancelled_.load(std::memory_order_relaxed)) return Code::kAborted;
    if (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_) return Code::kDeadline;
    return Code::kOk;
  }
  bool stopped() const { return reason() != Code::kOk; }
  Status status() const {
    switch (reason()) {
      case Code::kAborted:
        return Status::fail(Code::kAborted, "Expected to finish before the signal, received an abort");
      case Code::kDeadline:
        return Status::fail(Code::kDeadline, "Expected to finish before the deadline, received none in time");
      default:
        return {};
    }
  }

 private:
  std::atomic<bool> cancelled_{false};
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace errata
