#include "index/filter.hpp"

#include <algorithm>

namespace errata {
namespace {

// Longer ones cost more than they are worth: 64 operands deep, and a stack of single bits fits one word.
constexpr std::size_t kLongest = 1024;
constexpr std::size_t kDeepest = 64;

bool is_operator(Tag token) {
  return token >= kFilterNot;
}

/// One operand of a filter, read word by word in ascending order.
class Operand {
 public:
  explicit Operand(const SlotSet* slots) : slots_(slots) {}

  std::uint64_t word(std::size_t index) {
    if (slots_ == nullptr) return 0;
    if (slots_->dense()) return slots_->bitmap().word(index);
    const std::vector<Slot>& list = slots_->list();
    std::uint64_t bits = 0;
    for (; at_ < list.size() && list[at_] / 64 == index; ++at_) bits |= std::uint64_t{1} << (list[at_] & 63);
    return bits;
  }

 private:
  const SlotSet* slots_;
  std::size_t at_ = 0;
};

}  // namespace

Status check_filter(const Filter& filter) {
  if (filter.size() > kLongest) {
    return Status::fail(Code::kInvalidInput, "Expected at most " + std::to_string(kLongest) +
                                                 " terms for filter, received " +
                                                 std::to_string(filter.size()));
  }
  // A plain list may be longer than the stack is deep: it is combined as it comes.
  if (std::none_of(filter.begin(), filter.end(), is_operator)) return {};
  std::size_t depth = 0;
  for (const Tag token : filter) {
    const std::size_t taken = !is_operator(token) ? 0 : token == kFilterNot ? 1 : 2;
    if (depth < taken) {
      return Status::fail(Code::kInvalidInput, "Expected " + std::to_string(taken) +
                                                   " operands for an operator of filter, received " +
                                                   std::to_string(depth));
    }
    depth = depth - taken + 1;
    if (depth > kDeepest) {
      return Status::fail(Code::kInvalidInput,
                          "Expected at most 64 pending operands for filter, received more");
    }
  }
  return {};
}

bool matches(const Filter& filter, const std::vector<Tag>& tags) {
  const auto has = [&tags](Tag tag) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); };
  if (std::none_of(filter.begin(), filter.end(), is_operator)) {
    return std::all_of(filter.begin(), filter.end(), has);
  }
  std::uint64_t stack = 0;  // the top is bit 0
  std::size_t depth = 0;
  for (const Tag token : filter) {
    if (token == kFilterNot) {
      stack ^= 1;
    } else if (token == kFilterAnd || token == kFilterOr) {
      const std::uint64_t top = stack & 1, below = (stack >> 1) & 1;
      stack = (stack >> 2 << 1) | (token == kFilterAnd ? top & below : top | below);
      --depth;
    } else {
      stack = stack << 1 | std::uint64_t{has(token)};
      ++depth;
    }
  }
  const std::uint64_t all = depth >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << depth) - 1;
  return (stack & all) == all;
}

SlotSet evaluate(const Filter& filter, const TagSets& tags, const Bitmap& live, const Bitmap& primary) {
  std::vector<Operand> operands;
  for (const Tag token : filter) {
    operands.emplace_back(is_operator(token) ? nullptr : tags.find(token));
  }
  SlotSet matching;
  std::size_t notes = 0;
  std::uint64_t stack[kDeepest + 1];
  const bool plain = std::none_of(filter.begin(), filter.end(), is_operator);
  for (std::size_t index = 0; index < live.word_count(); ++index) {
    std::uint64_t bits = live.word(index);
    std::size_t depth = 0;
    for (std::size_t i = 0; i < filter.size(); ++i) {
      if (plain) {
        bits &= operands[i].word(index);
      } else if (filter[i] == kFilterNot) {
        stack[depth - 1] = ~stack[depth - 1];
      } else if (filter[i] == kFilterAnd) {
        --depth;
        stack[depth - 1] &= stack[depth];
      } else if (filter[i] == kFilterOr) {
        --depth;
        stack[depth - 1] |= stack[depth];
      } else {
        stack[depth++] = operands[i].word(index);
      }
    }
    while (depth > 0) bits &= stack[--depth];
    notes += count_bits(bits & primary.word(index));
    matching.append_word(index, bits);
  }
  matching.set_notes(notes);
  return matching;
}

std::shared_ptr<const SlotSet> FilterCache::find(const Filter& filter) {
  std::lock_guard<std::mutex> guard(mutex_);
  for (Entry& entry : entries_) {
    if (entry.filter != filter) continue;
    entry.used = ++clock_;
    ++hits_;
    return entry.slots;
  }
  ++misses_;
  return nullptr;
}

std::shared_ptr<const SlotSet> FilterCache::insert(const Filter& filter, SlotSet slots) {
  std::lock_guard<std::mutex> guard(mutex_);
  for (Entry& entry : entries_) {
    if (entry.filter == filter) return entry.slots;
  }
  Entry added{filter, std::make_shared<SlotSet>(std::move(slots)), ++clock_};
  const std::shared_ptr<const SlotSet> result = added.slots;
  if (entries_.size() < kLargest) {
    entries_.push_back(std::move(added));
  } else {
    *std::min_element(entries_.begin(), entries_.end(),
                      [](const Entry& a, const Entry& b) { return a.used < b.used; }) = std::move(added);
  }
  return result;
}

void FilterCache::change_note(const std::vector<Tag>& tags, const Slot* slots, std::size_t n, bool added) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (n == 0) return;
  for (Entry& entry : entries_) {
    if (!matches(entry.filter, tags)) continue;
    for (std::size_t i = 0; i < n; ++i) added ? entry.slots->insert(slots[i]) : entry.slots->erase(slots[i]);
    entry.slots->count_note(added);
  }
}

void FilterCache::clear() {
  std::lock_guard<std::mutex> guard(mutex_);
  entries_.clear();
}

std::size_t FilterCache::size() const {
  std::lock_guard<std::mutex> guard(mutex_);
  return entries_.size();
}

std::size_t FilterCache::memory_bytes() const {
  std::lock_guard<std::mutex> guard(mutex_);
  std::size_t bytes = entries_.capacity() * sizeof(Entry);
  for (const Entry& entry : entries_)
    bytes += entry.slots->memory_bytes() + entry.filter.capacity() * sizeof(Tag);
  return bytes;
}

std::size_t FilterCache::hits() const {
  std::lock_guard<std::mutex> guard(mutex_);
  return hits_;
}

std::size_t FilterCache::misses() const {
  std::lock_guard<std::mutex> guard(mutex_);
  return misses_;
}

}  // namespace errata
