#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <vector>

namespace errata {

using Slot = std::uint32_t;

/// Slots of a chunk: one bitmap word, so that a scan walks word by word.
constexpr std::size_t kChunkSlots = 64;

/// Asks for `bytes` of memory ahead of their use.
inline void prefetch(const void* data, std::size_t bytes) {
#if defined(__GNUC__) || defined(__clang__)
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(data) + i);
#else
  (void)data;
  (void)bytes;
#endif
}

/// Chunks of equal size in blocks that never move, so that a graph build may read while the store grows.
/// Blocks are on huge pages where the kernel gives them (advice only: without them it is slower, not wrong).
/// Not thread-safe by itself: growing needs the partition's writer lock.
class BlockStore {
 public:
  /// `chunk_bytes` must be a multiple of 64.
  explicit BlockStore(std::size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}
  ~BlockStore() {
    (void)truncate(0);
    (void)take_ahead();
  }
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;

  std::size_t chunks() const { return chunks_.size(); }
  std::size_t chunk_bytes() const { return chunk_bytes_; }
  /// With what is got ready for later.
  std::size_t memory_bytes() const { return memory_bytes_ + ahead_bytes_.load(); }

  /// Makes room for at least `slots` slots. False when memory runs out; what was there stays usable.
  bool reserve(std::size_t slots);
  /// Whether `reserve` would neither wait for a block nor take its page faults. Large blocks are got ready by
  /// another thread, for the first touch of a huge page takes 0.2 ms, and 6 ms on some virtual machines.
  bool ready(std::size_t slots) const;
  /// Waits until it is: for writers, before they take a lock.
  void prepare(std::size_t slots);
  /// Takes the blocks out that lie wholly at or past `slots`. They go with what is returned: giving hundreds
  /// of megabytes back takes tens of milliseconds, which need no lock.
  std::vector<std::shared_ptr<void>> truncate(std::size_t slots);
  /// Takes `chunks` chunks that lie in foreign memory (a mapped snapshot) which `owner` keeps alive; only
  /// into an empty store. Where `verify` is given, it verifies one of `parts` equal parts a chunk has,
  /// numbered over all chunks, and nothing of a chunk may be used before `sound(chunk)`, or of a part before
  /// `part_sound(part)`.
  void adopt(std::byte* data, std::size_t chunks, std::shared_ptr<void> owner, std::size_t parts = 1,
             std::function<bool(std::size_t)> verify = nullptr);
  /// Whether chunks are left that were not verified: whoever reads or writes rows must then ask for each.
  bool unverified() const { return unverified_.load(std::memory_order_acquire); }
  /// Verifies at the first call for it, 0.03 ms a 100 KB; false where its bytes are not what was
  /// written. Thread-safe against itself, and needs the partition's lock, shared or not: a chunk may be
  /// written to once it was verified.
  bool sound(std::size_t chunk) const;
  bool part_sound(std::size_t part) const;
  /// Maps `count` chunks from `first` on that lie in a mapped file, in one call instead of a fault every
  /// 64 KB: for those who read all of them. Only a matter of time.
  void fault_in(std::size_t first, std::size_t count) const;
  /// All of them are known to be sound.
  void all_verified() { unverified_.store(false, std::memory_order_release); }

  const std::byte* chunk(std::size_t index) const { return chunks_[index]; }
  std::byte* chunk(std::size_t index) { return chunks_[index]; }

 private:
  struct Block {
    std::shared_ptr<void> memory;
    std::size_t chunks;
    std::size_t bytes;
    bool adopted;
  };

  std::size_t next_chunks() const;
  std::size_t block_bytes(std::size_t chunks) const;
  void begin_ahead();
  std::shared_ptr<void> take_ahead();

  std::size_t chunk_bytes_;
  std::size_t memory_bytes_ = 0;
  std::vector<Block> blocks_;
  std::future<std::byte*> ahead_;  // the next block, while it is got ready
  std::size_t ahead_chunks_ = 0;
  std::atomic<std::size_t> ahead_bytes_{0};  // asked for while the writer gets the block ready
  std::vector<std::byte*> chunks_;

  std::atomic<bool> unverified_{false};
  std::function<bool(std::size_t)> verify_;
  std::size_t parts_ = 1;                                    // of a chunk
  mutable std::vector<std::atomic<std::uint8_t>> verified_;  // by part of adopted chunks
};

}  // namespace errata
