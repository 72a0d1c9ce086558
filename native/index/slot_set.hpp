#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bitmap.hpp"
#include "index/block_store.hpp"

namespace errata {

/// The slots that carry one tag, or match one filter: a sorted list while they are few, a bitmap from then
/// on, so that an attribute with a hundred thousand values does not cost a hundred thousand bitmaps.
class SlotSet {
 public:
  bool dense() const { return dense_; }
  std::size_t size() const { return size_; }
  /// Notes that own the slots: whoever inserts or erases all slots of a note counts it.
  std::size_t notes() const { return notes_; }
  void count_note(bool added) { added ? ++notes_ : --notes_; }
  const std::vector<Slot>& list() const { return list_; }
  const Bitmap& bitmap() const { return bitmap_; }

  bool test(Slot slot) const {
    return dense_ ? bitmap_.test(slot) : std::binary_search(list_.begin(), list_.end(), slot);
  }
  /// The next word of bits, past all slots held: for building a set in one pass.
  void append_word(std::size_t word, std::uint64_t bits) {
    for (; bits; bits &= bits - 1) {
      if (dense_) {
        bitmap_.or_word(word, bits);
        size_ += count_bits(bits);
        return;
      }
      list_.push_back(static_cast<Slot>(word * 64 + lowest_bit(bits)));
      ++size_;
      densify();
    }
  }
  void set_notes(std::size_t notes) { notes_ = notes; }
  void insert(Slot slot) {
    if (test(slot)) return;
    ++size_;
    if (dense_) {
      bitmap_.set(slot);
      return;
    }
    list_.insert(std::lower_bound(list_.begin(), list_.end(), slot), slot);
    densify();
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
  void densify() {
    if (list_.size() <= kListMax) return;
    for (const Slot held : list_) bitmap_.set(held);
    list_ = {};
    dense_ = true;
  }

  // 4 KiB of list; a bitmap over 32,768 slots is as large, and inserting in the middle stays under a
  // microsecond.
  static constexpr std::size_t kListMax = 1024;

  std::size_t size_ = 0;
  std::size_t notes_ = 0;
  bool dense_ = false;
  std::vector<Slot> list_;
  Bitmap bitmap_;
};

}  // namespace errata
