#include "index/block_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace errata {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;  // x86-64 and most arm64 kernels
// Small enough that a block's page faults (2 ms for 8 MiB, spread over the writes into it) never add up to a
// pause.
constexpr std::size_t kLargestBlockBytes = std::size_t{8} << 20;

std::size_t alignment_of(std::size_t bytes) {
  return bytes >= kHugePage ? kHugePage : 64;
}

}  // namespace

bool BlockStore::reserve(std::size_t slots) {
  while (chunks_.size() * kChunkSlots < slots) {
    // Doubling up to a limit: a partition of twenty notes stays small, one of a million grows in even steps.
    const std::size_t most = std::max<std::size_t>(1, kLargestBlockBytes / chunk_bytes_);
    const std::size_t count = std::clamp<std::size_t>(chunks_.size(), 1, most);
    const std::size_t bytes = count * chunk_bytes_;
    void* memory = ::operator new(bytes, std::align_val_t(alignment_of(bytes)), std::nothrow);
    if (memory == nullptr) return false;
#if defined(__linux__)
    if (bytes >= kHugePage) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    std::byte* data = static_cast<std::byte*>(memory);
    blocks_.push_back({data, count, nullptr});
    for (std::size_t i = 0; i < count; ++i) chunks_.push_back(data + i * chunk_bytes_);
    memory_bytes_ += bytes;
  }
  return true;
}

void BlockStore::truncate(std::size_t slots) {
  while (!blocks_.empty() && (chunks_.size() - blocks_.back().chunks) * kChunkSlots >= slots) {
    const Block& block = blocks_.back();
    const std::size_t bytes = block.chunks * chunk_bytes_;
    if (!block.owner) ::operator delete(block.data, std::align_val_t(alignment_of(bytes)));
    chunks_.resize(chunks_.size() - block.chunks);
    memory_bytes_ -= bytes;
    blocks_.pop_back();
  }
}

void BlockStore::adopt(std::byte* data, std::size_t chunks, std::shared_ptr<void> owner) {
  blocks_.push_back({data, chunks, std::move(owner)});
  for (std::size_t i = 0; i < chunks; ++i) chunks_.push_back(data + i * chunk_bytes_);
  memory_bytes_ += chunks * chunk_bytes_;
}

}  // namespace errata
