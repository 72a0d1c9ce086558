#pragma once

#include <condition_variable>
#include <mutex>

namespace errata {

/// Many readers or one writer; a waiting writer holds back new readers. `std::shared_mutex` lets a steady
/// stream of searches starve writers on glibc, and its `try_lock_shared` may not say that a writer waits.
class RwLock {
 public:
  void lock_shared() {
    std::unique_lock<std::mutex> guard(mutex_);
    readable_.wait(guard, [this] { return !writing_ && waiting_writers_ == 0; });
    ++readers_;
  }
  /// Never waits: the event loop uses this, and goes to a worker thread where it is refused.
  bool try_lock_shared() {
    std::unique_lock<std::mutex> guard(mutex_, std::try_to_lock);
    if (!guard.owns_lock() || writing_ || waiting_writers_ != 0) return false;
    ++readers_;
    return true;
  }
  void unlock_shared() {
    std::lock_guard<std::mutex> guard(mutex_);
    if (--readers_ == 0) writable_.notify_one();
  }
  void lock() {
    std::unique_lock<std::mutex> guard(mutex_);
    ++waiting_writers_;
    writable_.wait(guard, [this] { return !writing_ && readers_ == 0; });
    --waiting_writers_;
    writing_ = true;
  }
  void unlock() {
    std::lock_guard<std::mutex> guard(mutex_);
    writing_ = false;
    writable_.notify_one();
    readable_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable readable_;
  std::condition_variable writable_;
  unsigned readers_ = 0;
  unsigned waiting_writers_ = 0;
  bool writing_ = false;
};

}  // namespace errata
