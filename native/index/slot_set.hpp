#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bitmap.hpp"
#include "index/block_store.hpp"

namespace errata {

/// The slots that carry one tag: a sorted list while they are few, a bitmap from then on, so that an
/// attribute with a hundred thousand values does not cost a hundred thousand bitmaps.
class SlotSet {
 public:
  bool dense() const { return dense_; }
  std::size_t size() const { return size_; }
  const std::vector<Slot>& list() const { return list_; }
  const Bitmap& bitmap() const { return bitmap_; }

  bool test(Slot slot) const {
    return dense_ ? bitmap_.test(slot) : std::binary_search(list_.begin(), list_.end(), slot);
  }
  void insert(Slot slot) {
    if (test(slot)) return;
    ++size_;
    if (dense_) {
      bitmap_.set(slot);
      return;
    }
    list_.insert(std::lower_bound(list_.begin(), list_.end(), slot), slot);
    if (list_.size() > kListMax) {
      for (Slot held : list_) bitmap_.set(held);
      list_ = {};
      dense_ = true;
    }
  }
  void erase(Slot slot) {
    if (!test(slot)) return;
    --size_;
    if (dense_) {
      bitmap_.clear(slot);
    } else {
      list_.erase(std::lower_bound(list_.begin(), list_.end(), slot));
    }
  }
  std::size_t memory_bytes() const {
    return sizeof(SlotSet) + list_.capacity() * sizeof(Slot) + bitmap_.memory_bytes();
  }

 private:
  // 4 KiB of list; a bitmap over 32,768 slots is as large, and inserting in the middle stays under a
  // microsecond.
  static constexpr std::size_t kListMax = 1024;

  std::size_t size_ = 0;
  bool dense_ = false;
  std::vector<Slot> list_;
  Bitmap bitmap_;
};

}  // namespace errata
