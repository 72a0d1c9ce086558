#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "index/block_store.hpp"

namespace errata {

/// Rank of a key among equal scores: the first 128 bits of the note's id, so that ties fall by id, not by
/// arrival.
struct Order {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator<(const Order& a, const Order& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
  friend bool operator==(const Order& a, const Order& b) { return a.high == b.high && a.low == b.low; }
};

/// Whose row a slot holds. Laid out as in a snapshot (SlotRecord), so that a million of them are there as
/// soon as the file is mapped.
struct SlotInfo {
  std::uint64_t key;
  Order order;
  std::uint32_t kind;
  std::uint32_t flags;  // as the snapshot had them; the partition's bitmaps are what counts
};
static_assert(sizeof(SlotInfo) == 32, "no padding");

/// By slot; its size is the high-water mark. Grows as the rows do, without moving what is there.
class SlotTable {
 public:
  SlotTable() : blocks_(kChunkSlots * sizeof(SlotInfo)) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  BlockStore& blocks() { return blocks_; }
  const BlockStore& blocks() const { return blocks_; }

  const SlotInfo& operator[](std::size_t slot) const {
    return reinterpret_cast<const SlotInfo*>(blocks_.chunk(slot / kChunkSlots))[slot % kChunkSlots];
  }
  SlotInfo& operator[](std::size_t slot) {
    return reinterpret_cast<SlotInfo*>(blocks_.chunk(slot / kChunkSlots))[slot % kChunkSlots];
  }
  /// The next slot; its room must have been reserved.
  Slot append() {
    (*this)[size_] = {};
    return static_cast<Slot>(size_++);
  }
  /// After `blocks().adopt()`.
  void adopted(std::size_t size) { size_ = size; }
  std::vector<std::shared_ptr<void>> truncate(std::size_t size) {
    size_ = size;
    return blocks_.truncate(size);
  }

 private:
  BlockStore blocks_;
  std::size_t size_ = 0;
};

}  // namespace errata
