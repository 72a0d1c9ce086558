#pragma once

#include <napi.h>

#include <new>
#include <utility>

#include "binding/arguments.hpp"

namespace errata::binding {

/// Runs `task` (returns Status) on a worker thread and settles a promise with what `convert(env, task)` makes
/// of the functor's own state. The functor owns all it needs.
template <typename Task, typename Convert>
class Work : public Napi::AsyncWorker {
 public:
  static Napi::Value start(Napi::Env env, Task task, Convert convert) {
    auto* work = new Work(env, std::move(task), std::move(convert));
    work->Queue();
    return work->deferred_.Promise();
  }

 protected:
  void Execute() override {
    try {
      status_ = task_();
    } catch (const std::bad_alloc&) {
      status_ = Status::fail(Code::kOutOfMemory, "Expected memory for the index, received none");
    }
  }
  void OnOK() override {
    Napi::HandleScope scope(Env());
    if (status_.ok()) {
      deferred_.Resolve(convert_(Env(), task_));
    } else {
      deferred_.Reject(to_error(Env(), status_).Value());
    }
  }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Work(Napi::Env env, Task task, Convert convert)
      : Napi::AsyncWorker(env, "errata"),
        deferred_(Napi::Promise::Deferred::New(env)),
        task_(std::move(task)),
        convert_(std::move(convert)) {}

  Napi::Promise::Deferred deferred_;
  Task task_;
  Convert convert_;
  Status status_;
};

template <typename Task, typename Convert>
Napi::Value run_off_loop(Napi::Env env, Task task, Convert convert) {
  return Work<Task, Convert>::start(env, std::move(task), std::move(convert));
}

}  // namespace errata::binding
