#include <algorithm>
#include <cmath>
#include <limits>
#include <shared_mutex>
#include <unordered_set>

#include "index/partition.hpp"

namespace errata {
namespace {

// Costs on one core, from shared/vector-figures.md: 4.2 ms for 100k rows of 384 float32 out of memory, 110 us
// for a graph search at beam 64 over the same. Only their ratio matters; issue 4 calibrates them at start.
constexpr double kScanUsPerFloat = 4200.0 / (100'000.0 * 384.0);
constexpr double kGraphUsPerEfFloat = 110.0 / (64.0 * 384.0);
// Rows beyond the wanted ones that a graph search asks for and that are scored exactly: with codes the order
// of near ties is the codes', and 20 more made recall@10 equal the float32 graph's on every data set of the
// bench.
constexpr std::size_t kRescoreRows = 20;
// Rows whose exact scores are taken ahead of the comparison of bounds.
constexpr std::size_t kPrefetchRows = 3;

}  // namespace

bool Partition::better(const Candidate& a, const Candidate& b) const {
  if (a.score != b.score) return a.score > b.score;
  const SlotInfo& first = info_[a.slot];
  const SlotInfo& second = info_[b.slot];
  if (!(first.order == second.order)) return first.order < second.order;
  if (first.key != second.key) return first.key < second.key;
  return first.kind < second.kind;
}

float Partition::score(const float* query, Slot slot) const {
  const float value = static_cast<float>(kernels_.dot_f64(query, rows_.row(slot), options_.dimensions));
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
  return std::max(ef, std::min(query.k, live_rows_) * kRowKinds + kRescoreRows);
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

std::size_t Partition::rows_wanted(const Allowed& allowed, std::size_t k) const {
  // Among the best k * r rows there are k keys, where a key owns at most r of them.
  const std::size_t rows_a_key = live_rows_ > keys_.size() ? kRowKinds : 1;
  return std::min(allowed.rows, k * rows_a_key);
}

ScanSource Partition::source() const {
  return {rows_, codes_.get(), kernels_, code_error_};
}

Status Partition::run(const Query& query, const Allowed& allowed, Answer& answer) const {
  answer = {};
  const std::size_t k = std::min(query.k, allowed.keys);
  if (k == 0) {
    answer.plan = "empty";
    return {};
  }
  const std::size_t wanted = rows_wanted(allowed, k);
  const char* suffix = allowed.filtered ? "(filtered)" : "";
  const Bitmap& bits = allowed.bitmap ? *allowed.bitmap : allowed.combined;
  const ScanSource source = this->source();
  const ScanQuery scanned(source, query.vector);
  std::string plan = "scan";
  if (prefers_graph(query, allowed)) {
    plan = "graph";
    GraphSearch search;
    search.vector = query.vector;
    search.coded = &scanned.coded;
    search.wanted = std::min(allowed.rows, wanted + kRescoreRows);
    search.ef = beam(query);
    search.allowed = allowed.filtered || !free_.empty() ? &bits : nullptr;
    search.stop = query.stop;
    Status status = graph_->search(search);
    if (!status.ok()) return status;
    if (query.stop != nullptr && !(status = query.stop->status()).ok()) return status;
    answer.compared += search.distances;
    rank(query.vector, search.found, std::numeric_limits<double>::infinity(), wanted, k, answer);
    answer.plan = plan + suffix;
    answer.exhaustive = false;
    if (answer.hits.size() >= k) return {};
    // Filters far from the query, or rows that the graph cannot reach: the answer must still be complete.
    suffix = allowed.filtered ? "(filtered)+scan" : "+scan";
  }
  NearRows near(wanted, scanned.margin);
  const bool whole = allowed.listed
                         ? scan_list(source, scanned, allowed.list, near, query.stop)
                         : scan_words(source, scanned, bits, 0, bits.word_count(), near, query.stop);
  if (!whole) return query.stop->status();
  answer.compared += allowed.rows;
  rank(query.vector, near.finish(), scanned.margin, wanted, k, answer);
  answer.plan = plan + suffix;
  answer.exhaustive = true;
  return {};
}

Status Partition::search_batch(const float* queries, std::size_t count, const Query& shared,
                               std::vector<Answer>& answers) const {
  answers.assign(count, {});
  for (std::size_t q = 0; q < count; ++q) {
    Query query = shared;
    query.vector = queries + q * options_.dimensions;
    Status status = check_query(query);
    if (!status.ok()) return status;
  }
  std::shared_lock<RwLock> guard(lock_);
  const Allowed allowed = allow(shared.tags);
  const std::size_t k = std::min(shared.k, allowed.keys);
  if (k == 0 || allowed.listed) {
    for (std::size_t q = 0; q < count; ++q) {
      Query query = shared;
      query.vector = queries + q * options_.dimensions;
      Status status = run(query, allowed, answers[q]);
      if (!status.ok()) return status;
    }
    return {};
  }
  const std::size_t wanted = rows_wanted(allowed, k);
  const ScanSource source = this->source();
  std::vector<ScanQuery> scanned;
  std::vector<NearRows> near;
  for (std::size_t q = 0; q < count; ++q) {
    scanned.emplace_back(source, queries + q * options_.dimensions);
    near.emplace_back(wanted, scanned.back().margin);
  }
  const Bitmap& bits = allowed.bitmap ? *allowed.bitmap : allowed.combined;
  if (!scan_batch(source, scanned, bits, near, shared.stop)) return shared.stop->status();
  for (std::size_t q = 0; q < count; ++q) {
    answers[q].compared = allowed.rows;
    rank(scanned[q].vector, near[q].finish(), scanned[q].margin, wanted, k, answers[q]);
    answers[q].plan = allowed.filtered ? "batch(filtered)" : "batch";
  }
  return {};
}

void Partition::rank(const float* query, std::vector<NearRow>& near, double margin, std::size_t wanted,
                     std::size_t k, Answer& answer) const {
  const auto rescore = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i + kPrefetchRows < end) {
        const float* row = rows_.row(near[i + kPrefetchRows].slot);
        prefetch(row, rows_.stride() * sizeof(float));
      }
      near[i].score = score(query, near[i].slot);
    }
    answer.rescored += end - begin;
  };
  const auto by_rank = [this](const NearRow& a, const NearRow& b) { return better(a, b); };
  // The best by first pass give a bar that rules most of the others out; what may reach it is scored too.
  const std::size_t first = std::isinf(margin) ? near.size() : std::min(wanted, near.size());
  if (first < near.size()) {
    std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(first), near.end(),
                     [](const NearRow& a, const NearRow& b) { return a.score > b.score; });
  }
  rescore(0, first);
  if (first < near.size()) {
    float bar = 1.0f;
    for (std::size_t i = 0; i < first; ++i) bar = std::min(bar, near[i].score);
    near.erase(std::remove_if(near.begin() + static_cast<std::ptrdiff_t>(first), near.end(),
                              [=](const NearRow& row) { return row.score + margin < bar; }),
               near.end());
    rescore(first, near.size());
  }
  const std::size_t kept = std::min(wanted, near.size());
  if (kept < near.size()) {
    std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept), near.end(), by_rank);
    near.resize(kept);
  }
  std::sort(near.begin(), near.end(), by_rank);
  const bool repeats = live_rows_ > keys_.size();
  std::unordered_set<Key> seen;
  answer.hits.clear();
  for (const NearRow& row : near) {
    if (answer.hits.size() == k) break;
    const SlotInfo& info = info_[row.slot];
    if (repeats && !seen.insert(info.key).second) continue;
    answer.hits.push_back({info.key, row.score, info.kind});
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
