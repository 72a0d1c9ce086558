#include <algorithm>
#include <cmath>
#include <limits>
#include <shared_mutex>
#include <unordered_set>

#include "index/partition.hpp"
#include "simd/dispatch.hpp"

namespace errata {
namespace {

// Costs on one core, from shared/vector-figures.md: 4.2 ms for 100k rows of 384 float32 out of memory, 110 us
// for a graph search at beam 64 over the same. Only their ratio matters; issue 4 calibrates them at start.
constexpr double kScanUsPerFloat = 4200.0 / (100'000.0 * 384.0);
constexpr double kGraphUsPerEfFloat = 110.0 / (64.0 * 384.0);
// First-pass scores are off by a few float32 roundings. That many rows more than wanted are scored again
// exactly, so that every instruction set picks the same ones (identical vectors tie exactly and fall by Order
// in either pass).
constexpr std::size_t kRescoreSlack = 8;

// Rows ahead of the comparison that are asked for: at 100k x 384 out of memory 4 and 8 took 8.1 ms, 16 8.4
// ms, none 10.1 ms (Xeon with AVX-512, one core; a plain sum over the same bytes takes 9.1 ms).
constexpr std::size_t kPrefetchRows = 4;

void prefetch_row(const float* row, std::size_t stride) {
#if defined(__GNUC__) || defined(__clang__)
  for (std::size_t i = 0; i < stride; i += 16) __builtin_prefetch(row + i);
#else
  (void)row;
  (void)stride;
#endif
}

}  // namespace

/// The best `wanted` candidates seen, as a heap with the worst on top.
class Partition::TopK {
 public:
  TopK(const Partition& partition, std::size_t wanted) : partition_(partition), wanted_(wanted) {
    heap_.reserve(wanted);
  }
  void offer(float score, Slot slot) {
    if (heap_.size() < wanted_) {
      heap_.push_back({score, slot});
      std::push_heap(heap_.begin(), heap_.end(), order());
      if (heap_.size() == wanted_) floor_ = heap_.front().score;
      return;
    }
    if (score < floor_ || !partition_.better({score, slot}, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), order());
    heap_.back() = {score, slot};
    std::push_heap(heap_.begin(), heap_.end(), order());
    floor_ = heap_.front().score;
  }
  void take(std::vector<Slot>& slots) const {
    slots.clear();
    for (const Candidate& candidate : heap_) slots.push_back(candidate.slot);
  }

 private:
  struct Order {
    const Partition& partition;
    bool operator()(const Candidate& a, const Candidate& b) const { return partition.better(a, b); }
  };
  Order order() const { return Order{partition_}; }

  const Partition& partition_;
  const std::size_t wanted_;
  float floor_ = -std::numeric_limits<float>::infinity();
  std::vector<Candidate> heap_;
};

bool Partition::better(const Candidate& a, const Candidate& b) const {
  if (a.score != b.score) return a.score > b.score;
  const SlotInfo& first = info_[a.slot];
  const SlotInfo& second = info_[b.slot];
  if (!(first.order == second.order)) return first.order < second.order;
  if (first.key != second.key) return first.key < second.key;
  return first.kind < second.kind;
}

float Partition::score(const float* query, Slot slot) const {
  const float value = static_cast<float>(simd::dot_f64(query, rows_.row(slot), options_.dimensions));
  return std::clamp(value, -1.0f, 1.0f);
}

Status Partition::check_query(const Query& query) const {
  if (query.k < 1) return Status::fail(Code::kInvalidInput, "Expected at least 1 for k, received 0");
  return check_unit(kernels_, query.vector, options_.dimensions, "vector");
}

Partition::Allowed Partition::allow(const std::vector<Tag>& tags) const {
  Allowed allowed;
  if (tags.empty()) {
    allowed.bitmap = &live_;
    allowed.rows = live_rows_;
    allowed.keys = keys_.size();
    return allowed;
  }
  allowed.filtered = true;
  std::vector<const SlotSet*> sets;
  for (const Tag tag : tags) {
    const auto found = tags_.find(tag);
    if (found == tags_.end()) {
      allowed.listed = true;  // an empty list: nothing has this tag
      return allowed;
    }
    sets.push_back(&found->second);
  }
  std::sort(sets.begin(), sets.end(),
            [](const SlotSet* a, const SlotSet* b) { return a->size() < b->size(); });
  if (!sets.front()->dense()) {
    allowed.listed = true;
    for (const Slot slot : sets.front()->list()) {
      if (!std::all_of(sets.begin() + 1, sets.end(), [slot](const SlotSet* set) { return set->test(slot); }))
        continue;
      allowed.list.push_back(slot);
      if (primary_.test(slot)) ++allowed.keys;
    }
    allowed.rows = allowed.list.size();
    return allowed;
  }
  // The smallest set is a bitmap; a set that is still a list is smaller than any bitmap may shrink to, so
  // test it.
  const Bitmap* single = sets.size() == 1 ? &sets.front()->bitmap() : nullptr;
  if (single == nullptr) {
    allowed.combined = sets.front()->bitmap();
    for (std::size_t i = 1; i < sets.size(); ++i) {
      for (std::size_t word = 0; word < allowed.combined.word_count(); ++word) {
        if (sets[i]->dense()) {
          allowed.combined.and_word(word, sets[i]->bitmap().word(word));
          continue;
        }
        for (std::uint64_t bits = allowed.combined.word(word); bits; bits &= bits - 1) {
          const Slot slot = static_cast<Slot>(word * 64 + lowest_bit(bits));
          if (!sets[i]->test(slot)) allowed.combined.clear(slot);
        }
      }
    }
  }
  const Bitmap& bits = single ? *single : allowed.combined;
  for (std::size_t word = 0; word < bits.word_count(); ++word) {
    allowed.rows += count_bits(bits.word(word));
    allowed.keys += count_bits(bits.word(word) & primary_.word(word));
  }
  allowed.bitmap = single;  // null: `combined`, whose address changes as Allowed moves
  return allowed;
}

std::size_t Partition::beam(const Query& query) const {
  const std::size_t ef = query.ef ? query.ef : options_.ef_search;
  return std::max(ef, std::min(query.k, live_rows_) * kRowKinds + kRescoreSlack);
}

double Partition::scan_us(const Allowed& allowed) const {
  return static_cast<double>(allowed.rows) * static_cast<double>(options_.dimensions) * kScanUsPerFloat;
}

double Partition::graph_us(const Allowed& allowed, std::size_t ef) const {
  // A beam of `ef` allowed rows visits about ef / selectivity nodes.
  const double share =
      static_cast<double>(allowed.rows) / static_cast<double>(std::max<std::size_t>(1, info_.size()));
  return static_cast<double>(ef) * static_cast<double>(options_.dimensions) * kGraphUsPerEfFloat /
         std::max(share, 1e-9);
}

bool Partition::prefers_graph(const Query& query, const Allowed& allowed) const {
  if (!graph_ || allowed.listed) return false;
  return graph_us(allowed, beam(query)) < scan_us(allowed);
}

Status Partition::search(const Query& query, Answer& answer) const {
  Status status = check_query(query);
  if (!status.ok()) return status;
  std::shared_lock<RwLock> guard(lock_);
  return run(query, allow(query.tags), answer);
}

std::optional<Status> Partition::try_search(const Query& query, double limit_us, Answer& answer) const {
  Status status = check_query(query);
  if (!status.ok()) return status;
  std::shared_lock<RwLock> guard(lock_, std::try_to_lock);
  if (!guard.owns_lock()) return std::nullopt;
  const Allowed allowed = allow(query.tags);
  const double estimate = prefers_graph(query, allowed) ? graph_us(allowed, beam(query)) : scan_us(allowed);
  if (estimate > limit_us) return std::nullopt;
  return run(query, allowed, answer);
}

Status Partition::run(const Query& query, const Allowed& allowed, Answer& answer) const {
  Status status;
  answer = {};
  const std::size_t k = std::min(query.k, allowed.keys);
  if (k == 0) {
    answer.plan = "empty";
    return {};
  }
  // Among the best k * r rows there are k keys, where a key owns at most r of them.
  const std::size_t rows_a_key = live_rows_ > keys_.size() ? kRowKinds : 1;
  const std::size_t wanted = std::min(allowed.rows, k * rows_a_key + kRescoreSlack);
  const char* suffix = allowed.filtered ? "(filtered)" : "";
  std::vector<Slot> found;
  if (prefers_graph(query, allowed)) {
    const Bitmap* bits = allowed.bitmap ? allowed.bitmap : &allowed.combined;
    const bool everything = !allowed.filtered && free_.empty();
    status = graph_->search(query.vector, wanted, beam(query), everything ? nullptr : bits, found);
    if (!status.ok()) return status;
    finish(query.vector, found, k, answer);
    answer.plan = std::string("graph") + suffix;
    answer.exhaustive = false;
    if (answer.hits.size() >= k) return {};
    // Filters far from the query, or rows that the graph cannot reach: the answer must still be complete.
    scan(query.vector, allowed, wanted, found);
    finish(query.vector, found, k, answer);
    answer.plan += "+scan";
    answer.exhaustive = true;
    return {};
  }
  scan(query.vector, allowed, wanted, found);
  finish(query.vector, found, k, answer);
  answer.plan = std::string("scan") + suffix;
  answer.exhaustive = true;
  return {};
}

void Partition::scan(const float* query, const Allowed& allowed, std::size_t wanted,
                     std::vector<Slot>& found) const {
  TopK top(*this, wanted);
  if (allowed.listed) {
    scan_slots(query, allowed.list.data(), allowed.list.size(), top);
  } else {
    const Bitmap& bits = allowed.bitmap ? *allowed.bitmap : allowed.combined;
    for (std::size_t word = 0; word < bits.word_count(); ++word) {
      Slot slots[64];
      std::size_t n = 0;
      for (std::uint64_t mask = bits.word(word); mask; mask &= mask - 1) {
        slots[n++] = static_cast<Slot>(word * 64 + lowest_bit(mask));
      }
      scan_slots(query, slots, n, top);
    }
  }
  top.take(found);
}

void Partition::scan_slots(const float* query, const Slot* slots, std::size_t n, TopK& top) const {
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kPrefetchRows < n) prefetch_row(rows_.row(slots[i + kPrefetchRows]), rows_.stride());
    top.offer(kernels_.dot_f32(query, rows_.row(slots[i]), options_.dimensions), slots[i]);
  }
}

void Partition::finish(const float* query, const std::vector<Slot>& found, std::size_t k,
                       Answer& answer) const {
  std::vector<Candidate> candidates;
  candidates.reserve(found.size());
  for (const Slot slot : found) candidates.push_back({score(query, slot), slot});
  std::sort(candidates.begin(), candidates.end(),
            [this](const Candidate& a, const Candidate& b) { return better(a, b); });
  const bool repeats = live_rows_ > keys_.size();
  std::unordered_set<Key> seen;
  answer.hits.clear();
  for (const Candidate& candidate : candidates) {
    if (answer.hits.size() == k) break;
    const SlotInfo& info = info_[candidate.slot];
    if (repeats && !seen.insert(info.key).second) continue;
    answer.hits.push_back({info.key, candidate.score, info.kind});
  }
}

Status Partition::scores_of(const float* query, const Key* keys, std::size_t n, double* scores) const {
  Status status = check_unit(kernels_, query, options_.dimensions, "vector");
  if (!status.ok()) return status;
  std::shared_lock<RwLock> guard(lock_);
  for (std::size_t i = 0; i < n; ++i) {
    scores[i] = std::numeric_limits<double>::quiet_NaN();
    const auto found = keys_.find(keys[i]);
    if (found == keys_.end()) continue;
    for (const Slot slot : found->second.slots) {
      if (slot == std::numeric_limits<Slot>::max()) continue;
      const double value = score(query, slot);
      if (!(scores[i] >= value)) scores[i] = value;
    }
  }
  return {};
}

}  // namespace errata
