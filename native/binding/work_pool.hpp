#pragma once

#include <napi.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/status.hpp"
#include "index/stop_signal.hpp"

namespace errata::binding {

enum class Lane {
  kSearch,
  kWrite,  // always leaves a thread for searches, where there are two or more
  kSave,   // takes seconds: on a thread beside the others, one after another
  kWait    // waits for what others do, on no thread of its own
};

/// One call that ends off the event loop.
class WorkItem {
 public:
  virtual ~WorkItem() = default;
  /// On a thread of the pool.
  virtual void run() = 0;
  /// For Lane::kWait: whether `run()` would return at once. Cheap; asked every few milliseconds.
  virtual bool due() const { return true; }
  /// On the event loop: settles the promise.
  virtual void settle(Napi::Env env) = 0;
  /// It ended without having been run.
  virtual void refuse(Status status) = 0;

  std::shared_ptr<StopSignal> stop;  // null: nothing ends it early
};

/// Threads of one environment for its calls, apart from libuv's four, which file system and DNS share.
/// Threads start when they are first needed and end with the environment, which waits for the work under way
/// and drops what is queued. All but `work()`, `wait()` and `save()` is called on the environment's own
/// thread.
class WorkPool {
 public:
  struct Limits {
    std::size_t threads;  // at least 1
    std::size_t queue;    // calls that may wait; more are refused
  };
  struct Counts {
    std::size_t threads = 0;
    std::size_t running = 0;
    std::size_t queued = 0;
  };

  explicit WorkPool(Napi::Env env);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  static WorkPool& of(Napi::Env env);

  /// INVALID_CONFIG once threads run with other limits.
  Status configure(const Limits& limits);
  /// QUEUE_FULL where too many wait already; the item is then as it was.
  Status submit(std::unique_ptr<WorkItem>& item, Lane lane);
  /// Settles what waits with this signal, if the signal has ended: nobody should wait for a thread to be told
  /// so.
  void end_queued(const StopSignal* stop);
  Counts counts();

 private:
  void start(std::unique_ptr<WorkItem> item, Lane lane);
  bool take(std::unique_ptr<WorkItem>& item, bool& writes);
  void work();
  void wait();
  void save();
  void finished(WorkItem* item);
  void settled();
  void stop();
  std::size_t most_writers() const { return limits_.threads > 1 ? limits_.threads - 1 : 1; }

  const Napi::Env env_;
  napi_threadsafe_function to_loop_ = nullptr;
  std::size_t unsettled_ = 0;  // the event loop goes on while there are some

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable waited_;
  std::condition_variable save_wanted_;
  Limits limits_;
  std::deque<std::unique_ptr<WorkItem>> searches_, writes_, saves_;
  std::vector<std::unique_ptr<WorkItem>> waits_;
  std::size_t idle_ = 0, searching_ = 0, writing_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  std::thread waiter_;
  std::thread saver_;
};

}  // namespace errata::binding
