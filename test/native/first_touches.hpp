#pragma once

#if defined(__linux__)
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

#include "harness.hpp"

namespace errata::test {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// A huge page that a kernel has at hand is touched in 0.2 to 0.6 ms.
constexpr double kSlowTouchMs = 1.5;

/// How long the machine itself takes to give memory. A virtual machine may get a page from its host only at
/// the first touch, 6 ms for a huge one: then writes that need memory say nothing about the partition.
class FirstTouches {
 public:
  explicit FirstTouches(std::size_t pages) : bytes_(pages * kHugePage) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ != MAP_FAILED) madvise(memory_, bytes_, MADV_HUGEPAGE);
  }
  ~FirstTouches() {
    if (memory_ != MAP_FAILED) munmap(memory_, bytes_);
  }
  FirstTouches(const FirstTouches&) = delete;
  FirstTouches& operator=(const FirstTouches&) = delete;

  /// Touches the next huge page.
  void next() {
    if (memory_ == MAP_FAILED || at_ >= bytes_) return;
    const double start = cpu_ms();
    for (std::size_t i = 0; i < kHugePage; i += 4096) static_cast<volatile char*>(memory_)[at_ + i] = 1;
    longest_ = std::max(longest_, cpu_ms() - start);
    at_ += kHugePage;
  }
  double longest_ms() const { return longest_; }

 private:
  std::size_t bytes_, at_ = 0;
  void* memory_;
  double longest_ = 0;
};

}  // namespace errata::test
#endif
