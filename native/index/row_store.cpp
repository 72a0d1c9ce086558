#include "index/row_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace errata {
namespace {

constexpr std::size_t kLineFloats = 16;                  // 64-byte cache line
constexpr std::size_t kHugePage = std::size_t{2} << 20;  // x86-64 and most arm64 kernels
constexpr std::size_t kLargestBlockChunks = 64;          // 4,096 rows: 6 MiB at 384 dimensions

float* allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  void* data = ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
#if defined(__linux__)
  // Advice only: a kernel without huge pages is slower, not wrong.
  if (data != nullptr && alignment == kHugePage) (void)madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<float*>(data);
}

void release(float* data, std::size_t bytes) {
  ::operator delete(data, std::align_val_t(bytes >= kHugePage ? kHugePage : 64));
}

}  // namespace

RowStore::RowStore(std::size_t dimensions)
    : dimensions_(dimensions), stride_((dimensions + kLineFloats - 1) / kLineFloats * kLineFloats) {}

RowStore::~RowStore() {
  truncate(0);
}

bool RowStore::reserve(std::size_t slots) {
  while (capacity() < slots) {
    // Doubling up to a limit: a partition of twenty notes stays small, one of a million grows in even steps.
    const std::size_t chunks = std::clamp<std::size_t>(chunks_.size(), 1, kLargestBlockChunks);
    const std::size_t bytes = chunks * kChunkRows * stride_ * sizeof(float);
    float* data = allocate(bytes);
    if (data == nullptr) return false;
    blocks_.push_back({data, chunks});
    for (std::size_t i = 0; i < chunks; ++i) chunks_.push_back(data + i * kChunkRows * stride_);
    memory_bytes_ += bytes;
  }
  return true;
}

void RowStore::truncate(std::size_t slots) {
  while (!blocks_.empty() && (chunks_.size() - blocks_.back().chunks) * kChunkRows >= slots) {
    const Block block = blocks_.back();
    const std::size_t bytes = block.chunks * kChunkRows * stride_ * sizeof(float);
    release(block.data, bytes);
    chunks_.resize(chunks_.size() - block.chunks);
    blocks_.pop_back();
    memory_bytes_ -= bytes;
  }
}

}  // namespace errata
