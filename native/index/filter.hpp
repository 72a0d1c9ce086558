#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/bitmap.hpp"
#include "common/status.hpp"
#include "common/steady_map.hpp"
#include "index/slot_set.hpp"

namespace errata {

using Tag = std::uint32_t;

/// A filter in postfix order: tags are operands, the operators lie at the top of their range. What is left on
/// the stack at the end must all hold, so a plain list of tags means "all of them"; an empty one lets
/// everything pass.
using Filter = std::vector<Tag>;
constexpr Tag kFilterAnd = 0xffff'ffff;  // of the two operands before it
constexpr Tag kFilterOr = 0xffff'fffe;
constexpr Tag kFilterNot = 0xffff'fffd;   // of the one before it
constexpr Tag kFilterNone = 0xffff'fffc;  // an operand that nothing matches, as a tag that no row has
constexpr Tag kLargestTag = 0xffff'ffef;

using TagSets = SteadyMap<Tag, SlotSet>;

/// INVALID_INPUT where an operator lacks an operand, or the filter is longer or deeper than is sensible.
Status check_filter(const Filter& filter);

/// Whether a note with these tags matches. The filter must be checked.
bool matches(const Filter& filter, const std::vector<Tag>& tags);

/// The live slots that match, word by word: O(slots / 64 * length). `primary` holds one slot of each note.
SlotSet evaluate(const Filter& filter, const TagSets& tags, const Bitmap& live, const Bitmap& primary);

/// What filters matched lately, kept current by the writers. Searches call `find` and `insert` under the
/// partition's shared lock, at the same time; the others need its exclusive lock.
class FilterCache {
 public:
  /// At 1M rows a filter takes 125 kB, and a write costs one comparison of tags for each.
  static constexpr std::size_t kLargest = 64;

  std::shared_ptr<const SlotSet> find(const Filter& filter);
  /// Two searches may have evaluated the same filter: the first one's result is kept and returned.
  std::shared_ptr<const SlotSet> insert(const Filter& filter, SlotSet slots);
  /// A note's slots and tags came, or are about to go.
  void change_note(const std::vector<Tag>& tags, const Slot* slots, std::size_t n, bool added);
  void clear();

  std::size_t size() const;
  std::size_t memory_bytes() const;
  std::size_t hits() const;
  std::size_t misses() const;

 private:
  struct Entry {
    Filter filter;
    std::shared_ptr<SlotSet> slots;
    std::uint64_t used = 0;
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
  std::size_t hits_ = 0;
  std::size_t misses_ = 0;
};

}  // namespace errata
