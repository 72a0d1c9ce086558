#pragma once

#include <napi.h>

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "binding/arguments.hpp"
#include "binding/work_pool.hpp"

namespace errata::binding {

/// Runs `task` (returns Status) on a thread of the pool and settles a promise with what `convert(env, task)`
/// makes of the functor's own state. The functor owns all it needs.
template <typename Task, typename Convert>
class Work : public WorkItem {
 public:
  Work(Napi::Env env, Task task, Convert convert)
      : deferred_(Napi::Promise::Deferred::New(env)), task_(std::move(task)), convert_(std::move(convert)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }
  void run() override {
    try {
      status_ = task_();
    } catch (const std::bad_alloc&) {
      status_ = Status::fail(Code::kOutOfMemory, "Expected memory for the index, received none");
    }
  }
  bool due() const override { return due_of(task_, 0); }
  void refuse(Status status) override { status_ = std::move(status); }
  void settle(Napi::Env env) override {
    try {
      if (status_.ok()) {
        deferred_.Resolve(convert_(env, task_));
      } else {
        deferred_.Reject(to_error(env, status_).Value());
      }
    } catch (const Napi::Error& error) {
      // Out of JavaScript's memory, or the worker thread is being terminated.
      deferred_.Reject(error.Value());
    }
  }

 private:
  template <typename Some>
  static auto due_of(const Some& task, int) -> decltype(task.due()) {
    return task.due();
  }
  template <typename Some>
  static bool due_of(const Some&, long) {
    return true;
  }

  Napi::Promise::Deferred deferred_;
  Task task_;
  Convert convert_;
  Status status_;
};

/// The promise. Rejected with QUEUE_FULL where too many calls wait.
template <typename Task, typename Convert>
Napi::Value run_off_loop(Napi::Env env, Lane lane, Task task, Convert convert,
                         std::shared_ptr<StopSignal> stop = nullptr) {
  auto work = std::make_unique<Work<Task, Convert>>(env, std::move(task), std::move(convert));
  const Napi::Promise promise = work->promise();
  work->stop = std::move(stop);
  std::unique_ptr<WorkItem> item = std::move(work);
  Status status = WorkPool::of(env).submit(item, lane);
  if (!status.ok()) {
    item->refuse(std::move(status));
    item->settle(env);
  }
  return promise;
}

}  // namespace errata::binding
