#include "binding/work_pool.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "binding/arguments.hpp"

namespace errata::binding {
namespace {

// More threads would wait for memory, not for cores.
constexpr std::size_t kMostThreads = 8;
constexpr std::size_t kQueue = 1024;
// Short beside what is waited for (a graph, a gigabyte to verify), long enough to cost nothing.
constexpr std::chrono::milliseconds kLook{2};

WorkPool::Limits default_limits() {
  return {std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, kMostThreads), kQueue};
}

}  // namespace

WorkPool::WorkPool(Napi::Env env) : env_(env), limits_(default_limits()) {
  const auto settle = [](napi_env raw, napi_value, void* context, void* data) {
    const std::unique_ptr<WorkItem> item(static_cast<WorkItem*>(data));
    // Null while the environment ends: nobody waits any more.
    if (raw == nullptr) return;
    Napi::Env env(raw);
    Napi::HandleScope scope(env);
    static_cast<WorkPool*>(context)->settled();
    try {
      item->settle(env);
    } catch (const Napi::Error&) {
      // A worker thread that is being terminated takes no result, and nothing may leave this function.
    }
  };
  const napi_status made =
      napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "errata"), 0, 1, nullptr,
                                      nullptr, this, settle, &to_loop_);
  if (made != napi_ok)
    throw to_error(env, Status::fail(Code::kOutOfMemory, "Expected a queue to the event loop"));
  napi_unref_threadsafe_function(env, to_loop_);
  // After the queue was made: hooks run last first, so the threads have ended when the queue goes.
  napi_add_env_cleanup_hook(
      env, [](void* pool) { static_cast<WorkPool*>(pool)->stop(); }, this);
}

WorkPool::~WorkPool() {
  stop();
}

WorkPool& WorkPool::of(Napi::Env env) {
  if (auto* pool = env.GetInstanceData<WorkPool>()) return *pool;
  auto* pool = new WorkPool(env);
  env.SetInstanceData(pool);
  return *pool;
}

Status WorkPool::configure(const Limits& limits) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (!threads_.empty() && (limits.threads != limits_.threads || limits.queue != limits_.queue)) {
    return Status::fail(Code::kInvalidConfig,
                        "Expected the pool's limits before its first call, received them after");
  }
  limits_ = limits;
  return {};
}

Status WorkPool::submit(std::unique_ptr<WorkItem>& item, Lane lane) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (searches_.size() + writes_.size() + saves_.size() + waits_.size() >= limits_.queue) {
    return Status::fail(Code::kQueueFull, "Expected fewer than " + std::to_string(limits_.queue) +
                                              " waiting calls, received one more");
  }
  try {
    start(std::move(item), lane);
  } catch (const std::system_error&) {
    if (threads_.empty() && (lane == Lane::kSearch || lane == Lane::kWrite)) {
      (lane == Lane::kSearch ? searches_ : writes_).pop_back();
      throw to_error(env_, Status::fail(Code::kOutOfMemory, "Expected a thread for the call, received none"));
    }
  }
  if (unsettled_++ == 0) napi_ref_threadsafe_function(env_, to_loop_);
  return {};
}

/// Needs the mutex.
void WorkPool::start(std::unique_ptr<WorkItem> item, Lane lane) {
  if (lane == Lane::kWait) {
    waits_.push_back(std::move(item));
    if (!waiter_.joinable()) waiter_ = std::thread([this] { wait(); });
    waited_.notify_one();
    return;
  }
  if (lane == Lane::kSave) {
    saves_.push_back(std::move(item));
    if (!saver_.joinable()) saver_ = std::thread([this] { save(); });
    save_wanted_.notify_one();
    return;
  }
  (lane == Lane::kSearch ? searches_ : writes_).push_back(std::move(item));
  if (idle_ < searches_.size() + writes_.size() && threads_.size() < limits_.threads)
    threads_.emplace_back([this] { work(); });
  wanted_.notify_one();
}

/// Needs the mutex.
bool WorkPool::take(std::unique_ptr<WorkItem>& item, bool& writes) {
  writes = searches_.empty();
  if (writes && (writes_.empty() || writing_ >= most_writers())) return false;
  auto& queue = writes ? writes_ : searches_;
  item = std::move(queue.front());
  queue.pop_front();
  return true;
}

void WorkPool::work() {
  std::unique_lock<std::mutex> guard(mutex_);
  for (;;) {
    std::unique_ptr<WorkItem> item;
    bool writes = false;
    ++idle_;
    wanted_.wait(guard, [&] { return stopping_ || take(item, writes); });
    --idle_;
    if (!item) return;
    ++(writes ? writing_ : searching_);
    guard.unlock();
    item->run();
    finished(item.release());
    guard.lock();
    --(writes ? writing_ : searching_);
    // A write may have been held back by this one.
    if (writes && !writes_.empty()) wanted_.notify_one();
  }
}

void WorkPool::wait() {
  std::unique_lock<std::mutex> guard(mutex_);
  while (!stopping_) {
    std::vector<std::unique_ptr<WorkItem>> due;
    for (auto& item : waits_) {
      if (item->due()) due.push_back(std::move(item));
    }
    waits_.erase(std::remove(waits_.begin(), waits_.end(), nullptr), waits_.end());
    guard.unlock();
    for (auto& item : due) {
      item->run();
      finished(item.release());
    }
    guard.lock();
    if (waits_.empty()) {
      waited_.wait(guard, [this] { return stopping_ || !waits_.empty(); });
    } else {
      waited_.wait_for(guard, kLook, [this] { return stopping_; });
    }
  }
}

void WorkPool::save() {
  std::unique_lock<std::mutex> guard(mutex_);
  for (;;) {
    save_wanted_.wait(guard, [this] { return stopping_ || !saves_.empty(); });
    if (saves_.empty()) return;
    std::unique_ptr<WorkItem> item = std::move(saves_.front());
    saves_.pop_front();
    guard.unlock();
    item->run();
    finished(item.release());
    guard.lock();
  }
}

void WorkPool::finished(WorkItem* item) {
  // Refused only where the environment ends.
  if (napi_call_threadsafe_function(to_loop_, item, napi_tsfn_nonblocking) != napi_ok) delete item;
}

void WorkPool::settled() {
  if (--unsettled_ == 0) napi_unref_threadsafe_function(env_, to_loop_);
}

void WorkPool::end_queued(const StopSignal* stop) {
  if (!stop->stopped()) return;
  std::vector<std::unique_ptr<WorkItem>> ended;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    for (auto* queue : {&searches_, &writes_}) {
      for (auto& item : *queue) {
        if (item->stop.get() == stop) ended.push_back(std::move(item));
      }
      queue->erase(std::remove(queue->begin(), queue->end(), nullptr), queue->end());
    }
  }
  for (auto& item : ended) {
    item->refuse(stop->status());
    item->settle(env_);
    settled();
  }
}

WorkPool::Counts WorkPool::counts() {
  std::lock_guard<std::mutex> guard(mutex_);
  return {threads_.size(), searching_ + writing_,
          searches_.size() + writes_.size() + saves_.size() + waits_.size()};
}

void WorkPool::stop() {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    stopping_ = true;
    searches_.clear();
    writes_.clear();
    saves_.clear();
    waits_.clear();
  }
  wanted_.notify_all();
  waited_.notify_all();
  save_wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (waiter_.joinable()) waiter_.join();
  if (saver_.joinable()) saver_.join();
}

}  // namespace errata::binding
