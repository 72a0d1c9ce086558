#include "index/block_store.hpp"

#include "index/ahead_memory.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace errata {
namespace {

constexpr std::size_t kSmallPage = 4096;
// A block is a sixteenth of what is there: little is wasted, and few blocks are made.
constexpr std::size_t kGrowth = 16;
constexpr std::size_t kLargestBlockBytes = std::size_t{8} << 20;

std::size_t alignment_of(std::size_t bytes) {
  return bytes >= kHugePage ? kHugePage : 64;
}

std::byte* allocate(std::size_t bytes) {
  void* memory = ::operator new(bytes, std::align_val_t(alignment_of(bytes)), std::nothrow);
#if defined(__linux__)
  if (memory != nullptr && bytes >= kHugePage) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(memory);
}

void release(void* block, std::size_t bytes) {
  ::operator delete(block, std::align_val_t(alignment_of(bytes)));
}

std::byte* allocate_touched(std::size_t bytes) {
  std::byte* data = allocate(bytes);
  if (data == nullptr) return nullptr;
  for (std::size_t at = 0; at < bytes; at += kSmallPage)
    static_cast<volatile std::byte*>(data)[at] = std::byte{0};
  return data;
}

}  // namespace

std::size_t BlockStore::next_chunks() const {
  const std::size_t held = chunks_.size() * chunk_bytes_;
  // Doubling up to a huge page: a partition of twenty notes stays small.
  if (held < kHugePage) return std::max<std::size_t>(1, chunks_.size());
  const std::size_t pages = std::clamp(held / kGrowth, kHugePage, kLargestBlockBytes) / kHugePage;
  return std::max<std::size_t>(1, pages * kHugePage / chunk_bytes_);
}

/// Whole huge pages where no further chunk would fit into them: the kernel gives none for the last part of a
/// block that is short of one by a few kilobytes.
std::size_t BlockStore::block_bytes(std::size_t chunks) const {
  const std::size_t bytes = chunks * chunk_bytes_;
  const std::size_t pages = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  return bytes + chunk_bytes_ > pages ? pages : bytes;
}

bool BlockStore::ready(std::size_t slots) const {
  if (chunks_.size() * kChunkSlots >= slots || next_chunks() * chunk_bytes_ < kHugePage / 2) return true;
  return ahead_.valid() && ahead_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void BlockStore::prepare(std::size_t slots) {
  if (ready(slots)) return;
  if (!ahead_.valid()) begin_ahead();
  ahead_.wait();
}

void BlockStore::begin_ahead() {
  ahead_chunks_ = next_chunks();
  ahead_ = std::async(std::launch::async, allocate_touched, block_bytes(ahead_chunks_));
  ahead_bytes_.store(block_bytes(ahead_chunks_));
}

bool BlockStore::reserve(std::size_t slots) {
  while (chunks_.size() * kChunkSlots < slots) {
    const bool was_ahead = ahead_.valid();
    const std::size_t count = was_ahead ? ahead_chunks_ : next_chunks();
    const std::size_t bytes = block_bytes(count);
    std::byte* data = was_ahead ? ahead_.get() : allocate(bytes);
    ahead_bytes_.store(0);
    if (data == nullptr) return false;
    const auto free = [bytes](void* block) { release(block, bytes); };
    blocks_.push_back({std::shared_ptr<void>(data, free), count, bytes, false});
    for (std::size_t i = 0; i < count; ++i) chunks_.push_back(data + i * chunk_bytes_);
    memory_bytes_ += bytes;
    if (was_ahead) begin_ahead();
  }
  return true;
}

/// Goes once the other thread is done with it.
std::shared_ptr<void> BlockStore::take_ahead() {
  if (!ahead_.valid()) return nullptr;
  ahead_bytes_.store(0);
  const auto free = [bytes = block_bytes(ahead_chunks_)](void* pending) {
    const std::unique_ptr<std::future<std::byte*>> block(static_cast<std::future<std::byte*>*>(pending));
    release(block->get(), bytes);
  };
  return {static_cast<void*>(new std::future<std::byte*>(std::move(ahead_))), free};
}

std::vector<std::shared_ptr<void>> BlockStore::truncate(std::size_t slots) {
  std::vector<std::shared_ptr<void>> taken;
  if (chunks_.size() * kChunkSlots > slots) taken.push_back(take_ahead());
  while (!blocks_.empty() && (chunks_.size() - blocks_.back().chunks) * kChunkSlots >= slots) {
    Block& block = blocks_.back();
    chunks_.resize(chunks_.size() - block.chunks);
    memory_bytes_ -= block.bytes;
    if (block.adopted) {
      unverified_.store(false);
      verify_ = nullptr;
      verified_ = std::vector<std::atomic<std::uint8_t>>();
    }
    taken.push_back(std::move(block.memory));
    blocks_.pop_back();
  }
  return taken;
}

void BlockStore::adopt(std::byte* data, std::size_t chunks, std::shared_ptr<void> owner, std::size_t parts,
                       std::function<bool(std::size_t)> verify) {
  if (verify) {
    verify_ = std::move(verify);
    parts_ = parts;
    verified_ = std::vector<std::atomic<std::uint8_t>>(chunks * parts);
    unverified_.store(true);
  }
  blocks_.push_back({std::move(owner), chunks, chunks * chunk_bytes_, true});
  for (std::size_t i = 0; i < chunks; ++i) chunks_.push_back(data + i * chunk_bytes_);
  memory_bytes_ += chunks * chunk_bytes_;
}

void BlockStore::fault_in(std::size_t first, std::size_t count) const {
#if defined(MADV_POPULATE_READ)
  count = std::min(count, chunks_.size() - std::min(first, chunks_.size()));
  // What is adopted lies in one block. Kernels before 5.14 refuse.
  if (count == 0 || !blocks_[0].adopted || first + count > blocks_[0].chunks) return;
  const std::size_t begin = reinterpret_cast<std::uintptr_t>(chunks_[first]) / kSmallPage * kSmallPage;
  const std::size_t end = reinterpret_cast<std::uintptr_t>(chunks_[first]) + count * chunk_bytes_;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);
#else
  (void)first;
  (void)count;
#endif
}

bool BlockStore::sound(std::size_t chunk) const {
  if (!unverified()) return true;
  for (std::size_t part = 0; part < parts_; ++part) {
    if (!part_sound(chunk * parts_ + part)) return false;
  }
  return true;
}

bool BlockStore::part_sound(std::size_t part) const {
  if (!unverified() || part >= verified_.size()) return true;
  // Two threads may verify the same part at once: both come to the same end.
  if (verified_[part].load(std::memory_order_acquire) != 0) return true;
  if (!verify_(part)) return false;
  verified_[part].store(1, std::memory_order_release);
  return true;
}

}  // namespace errata
