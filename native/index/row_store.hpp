#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace errata {

using Slot = std::uint32_t;

/// Rows `[capacity, dimensions]` float32 in blocks that never move, so that a graph build may read while the
/// store grows. A block is cut into chunks of 64 rows, one chunk a bitmap word: a scan walks word by word.
/// Each row starts on a cache line; the pad is zero. Not thread-safe by itself: growing needs the partition's
/// writer lock.
class RowStore {
 public:
  static constexpr std::size_t kChunkRows = 64;

  explicit RowStore(std::size_t dimensions);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  std::size_t dimensions() const { return dimensions_; }
  std::size_t stride() const { return stride_; }
  std::size_t capacity() const { return chunks_.size() * kChunkRows; }
  std::size_t memory_bytes() const { return memory_bytes_; }

  /// Makes room for at least `slots` rows. False when memory runs out; what was there stays usable.
  bool reserve(std::size_t slots);
  /// Frees the blocks that lie wholly at or past `slots`.
  void truncate(std::size_t slots);

  const float* chunk(std::size_t index) const { return chunks_[index]; }
  const float* row(Slot slot) const { return chunks_[slot / kChunkRows] + (slot % kChunkRows) * stride_; }
  float* row(Slot slot) { return chunks_[slot / kChunkRows] + (slot % kChunkRows) * stride_; }

 private:
  struct Block {
    float* data;
    std::size_t chunks;
  };

  std::size_t dimensions_;
  std::size_t stride_;
  std::size_t memory_bytes_ = 0;
  std::vector<Block> blocks_;
  std::vector<float*> chunks_;
};

}  // namespace errata
