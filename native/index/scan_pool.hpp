#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace errata {

/// Threads of the process that help with large scans: one a core, started when first needed, never stopped.
/// Whoever asks works too, so that nothing ever waits for a helper to come free. Thread-safe.
class ScanPool {
 public:
  static ScanPool& shared();

  /// Calls `part(i)` for each i below `parts`, on several threads, and returns when all have ended.
  /// Exceptions must not leave `part`.
  void run(std::size_t parts, const std::function<void(std::size_t)>& part);
  /// The caller and the helpers that this machine has cores for.
  std::size_t threads() const { return helpers_ + 1; }

 private:
  struct Job {
    const std::function<void(std::size_t)>* part;
    std::size_t parts;
    std::atomic<std::size_t> next{0};
    std::size_t working = 0;  // helpers inside it; under `mutex_`
  };

  ScanPool();
  void help();
  static void work(Job& job);

  const std::size_t helpers_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable left_;
  std::vector<Job*> jobs_;
};

}  // namespace errata
