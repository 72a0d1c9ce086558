#include "index/scan_pool.hpp"

#include <algorithm>
#include <thread>

namespace errata {

ScanPool& ScanPool::shared() {
  // Never destroyed: at the end of the process its threads may still be waiting.
  static ScanPool* const pool = new ScanPool();
  return *pool;
}

ScanPool::ScanPool() : helpers_(std::max(1u, std::thread::hardware_concurrency()) - 1) {
  for (std::size_t i = 0; i < helpers_; ++i) std::thread([this] { help(); }).detach();
}

void ScanPool::work(Job& job) {
  for (std::size_t i = job.next.fetch_add(1); i < job.parts; i = job.next.fetch_add(1)) (*job.part)(i);
}

void ScanPool::run(std::size_t parts, const std::function<void(std::size_t)>& part) {
  Job job{&part, parts};
  {
    std::lock_guard<std::mutex> guard(mutex_);
    jobs_.push_back(&job);
  }
  wanted_.notify_all();
  work(job);
  std::unique_lock<std::mutex> guard(mutex_);
  // All parts are taken: no helper enters any more, and those inside finish theirs.
  jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  left_.wait(guard, [&job] { return job.working == 0; });
}

void ScanPool::help() {
  std::unique_lock<std::mutex> guard(mutex_);
  for (;;) {
    Job* job = nullptr;
    wanted_.wait(guard, [this, &job] {
      for (Job* each : jobs_) {
        if (each->next.load() < each->parts) job = each;
      }
      return job != nullptr;
    });
    ++job->working;
    guard.unlock();
    work(*job);
    guard.lock();
    if (--job->working == 0) left_.notify_all();
  }
}

}  // namespace errata
