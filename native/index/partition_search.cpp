#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <shared_mutex>
#include <unordered_set>

#include "index/partition.hpp"
#include "index/scan_pool.hpp"

namespace errata {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPartsAThread = 3;
// Rows of a batch cost about a third: they come out of memory once for all queries. Decides on threads only.
constexpr double kBatchGain = 3;
// Rows whose exact scores are taken ahead of the comparison of bounds.
constexpr std::size_t kPrefetchRows = 3;
// A code's score nearly always lies within so many standard deviations of the true one, where the proven
// margin is the square root of the dimensions of them: what quantisation lost points in no direction of the
// query's. A graph's answer is not proven anyway; at 100k x 384 it re-scores 13 rows of 30, each a cold row
// of 24 cache lines.
constexpr double kLikelyDeviations = 6;

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
  Status status = check_filter(query.filter);
  if (!status.ok()) return status;
  return check_unit(kernels_, query.vector, options_.dimensions, "vector");
}

Status Partition::search(const Query& query, Answer& answer) const {
  Status status = check_query(query);
  if (!status.ok()) return status;
  if (!(status = ready(!query.filter.empty())).ok()) return status;
  std::shared_lock<RwLock> guard(lock_);
  const Allowed allowed = allow(query.filter);
  return run(query, allowed, plan(query, allowed), answer);
}

std::optional<Status> Partition::try_search(const Query& query, double limit_us, Answer& answer) const {
  Status status = check_query(query);
  if (!status.ok()) return status;
  if (indexing_.load() && !query.filter.empty()) return std::nullopt;
  if (!(status = ready(false)).ok()) return status;
  std::shared_lock<RwLock> guard(lock_, std::try_to_lock);
  if (!guard.owns_lock()) return std::nullopt;
  const Allowed allowed = allow(query.filter);
  Plan chosen = plan(query, allowed);
  if (chosen.report.estimated_us > limit_us) return std::nullopt;
  return run(query, allowed, std::move(chosen), answer);
}

/// Why a search ended early.
Status Partition::ended(const StopSignal* stop) const {
  if (stop != nullptr && stop->stopped()) return stop->status();
  broken_.store(true);
  return broken_status();
}

ScanSource Partition::source() const {
  return {rows_, codes_.get(), kernels_, code_error_};
}

Status Partition::run(const Query& query, const Allowed& allowed, Plan plan, Answer& answer) const {
  const Clock::time_point start = Clock::now();
  answer.reset();
  const std::size_t k = std::min(query.k, allowed.keys);
  const std::size_t wanted = rows_wanted(allowed, k);
  const auto finish = [&] {
    end_head_start();
    plan.report.took_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    answer.report = plan.report;
    return Status{};
  };
  if (k == 0) {
    answer.plan = "empty";
    return finish();
  }
  const ScanSource source = this->source();
  const ScanQuery scanned(source, query.vector);
  const char* suffix = allowed.filtered ? "(filtered)" : "";
  std::string name = "scan";
  if (plan.graph) {
    Status status = run_graph(query, allowed, scanned, k, plan, answer);
    if (!status.ok()) return status;
    answer.plan = std::string("graph") + suffix;
    answer.exhaustive = false;
    if (answer.hits.size() >= k) return finish();
    // Over its budget, or rows that the graph cannot reach: the answer must be complete.
    name = answer.plan;
    suffix = "+scan";
  }
  std::vector<NearRows> near;
  near.emplace_back(wanted, scanned.margin);
  // A graph search that gave up has a scan after it, which may be worth sharing.
  plan.report.threads = allowed.list ? 1 : scan_threads(plan.report.scan_us);
  const bool whole =
      allowed.list
          ? scan_list(source, scanned, *allowed.list, near[0], query.stop)
          : scan_parts(allowed.bitmap->word_count(), plan.report.threads, near,
                       [&](std::size_t begin, std::size_t end, std::vector<NearRows>& part) {
                         return scan_words(source, scanned, *allowed.bitmap, begin, end, part[0], query.stop);
                       });
  if (!whole) return ended(query.stop);
  answer.compared += allowed.rows;
  if (!rank(query.vector, near[0].finish(), scanned.margin, wanted, k, answer)) return ended(nullptr);
  answer.plan = name + suffix;
  answer.exhaustive = true;
  return finish();
}

template <typename Scan>
bool Partition::scan_parts(std::size_t words, std::size_t threads, std::vector<NearRows>& near,
                           Scan scan) const {
  if (threads <= 1) return scan(0, words, near);
  // Several parts a thread, for one that is held up must not hold up all; the parts' own bars rise from
  // nothing, so not too many.
  const std::size_t parts = std::min(words, threads * kPartsAThread);
  std::vector<std::vector<NearRows>> found(parts, near);
  std::atomic<bool> whole{true};
  ScanPool::shared().run(parts, [&](std::size_t part) {
    if (whole.load(std::memory_order_relaxed) &&
        !scan(words * part / parts, words * (part + 1) / parts, found[part])) {
      whole.store(false, std::memory_order_relaxed);
    }
  });
  for (const std::vector<NearRows>& part : found) {
    for (std::size_t q = 0; q < near.size(); ++q) near[q].offer_all(part[q]);
  }
  return whole.load();
}

Status Partition::run_graph(const Query& query, const Allowed& allowed, const ScanQuery& scanned,
                            std::size_t k, Plan& plan, Answer& answer) const {
  GraphSearch& search = plan.search;
  const std::size_t wanted = rows_wanted(allowed, k);
  search.vector = query.vector;
  search.coded = &scanned.coded;
  search.wanted = std::min({allowed.rows, wanted + kRescoreRows, search.ef});
  search.allowed = allowed.rows < info_.size() ? allowed.bitmap : nullptr;
  search.stop = query.stop;
  Status status = graph_->search(search);
  if (!status.ok()) return status;
  if (query.stop != nullptr && !(status = query.stop->status()).ok()) return status;
  answer.compared += search.distances;
  if (!search.gave_up) {
    if (!add_kept_aside(query, scanned, wanted, search, answer)) return ended(query.stop);
    const double likely =
        std::min(1.0, kLikelyDeviations / std::sqrt(static_cast<double>(options_.dimensions)));
    if (!rank(query.vector, search.found, likely * scanned.margin, wanted, k, answer)) return ended(nullptr);
    if (live_rows_ > key_count()) take_best_rows(query.vector, answer);
  }
  return {};
}

/// The best of the rows that the graph does not find, by their codes: among many near-equal ones they may be
/// a quarter of all. False where `stop` ended it or a row is not sound.
bool Partition::add_kept_aside(const Query& query, const ScanQuery& scanned, std::size_t wanted,
                               GraphSearch& search, Answer& answer) const {
  if (kept_aside_.empty()) return true;
  std::vector<Slot> slots;
  for (const Slot slot : kept_aside_) {
    if (search.allowed == nullptr || search.allowed->test(slot)) slots.push_back(slot);
  }
  NearRows near(wanted, scanned.margin);
  if (!scan_list(source(), scanned, slots, near, query.stop)) return false;
  answer.compared += slots.size();
  // A beam wide enough finds some of them all the same.
  search.found.erase(std::remove_if(search.found.begin(), search.found.end(),
                                    [this](const NearRow& row) {
                                      return std::binary_search(kept_aside_.begin(), kept_aside_.end(),
                                                                row.slot);
                                    }),
                     search.found.end());
  const std::vector<NearRow>& found = near.finish();
  search.found.insert(search.found.end(), found.begin(), found.end());
  return true;
}

/// A graph may find one of a key's rows and not the better one.
void Partition::take_best_rows(const float* query, Answer& answer) const {
  std::vector<Candidate> best;
  best.reserve(answer.hits.size());
  for (const Hit& hit : answer.hits) {
    const KeyEntry& entry = *keys_.find(hit.key);
    const Slot other = entry.slots[kRowKinds - 1 - hit.kind];
    best.push_back({hit.score, entry.slots[hit.kind]});
    if (other == kNoSlot) continue;
    const Candidate also{score(query, other), other};
    if (better(also, best.back())) best.back() = also;
    ++answer.rescored;
  }
  std::sort(best.begin(), best.end(),
            [this](const Candidate& a, const Candidate& b) { return better(a, b); });
  answer.hits.clear();
  for (const Candidate& row : best) {
    const SlotInfo& info = info_[row.slot];
    answer.hits.push_back({info.key, row.score, static_cast<std::uint8_t>(info.kind)});
  }
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
  Status status = ready(!shared.filter.empty());
  if (!status.ok()) return status;
  std::shared_lock<RwLock> guard(lock_);
  const Allowed allowed = allow(shared.filter);
  const std::size_t k = std::min(shared.k, allowed.keys);
  if (k == 0 || allowed.list) {
    for (std::size_t q = 0; q < count; ++q) {
      Query query = shared;
      query.vector = queries + q * options_.dimensions;
      Status status = run(query, allowed, plan(query, allowed), answers[q]);
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
  const double us = static_cast<double>(count * info_.size()) * costs_.row_us / kBatchGain;
  const std::size_t threads = scan_threads(us);
  const bool whole =
      scan_parts(allowed.bitmap->word_count(), threads, near,
                 [&](std::size_t begin, std::size_t end, std::vector<NearRows>& part) {
                   return scan_batch(source, scanned, *allowed.bitmap, begin, end, part, shared.stop);
                 });
  if (!whole) return ended(shared.stop);
  for (std::size_t q = 0; q < count; ++q) {
    answers[q].compared = allowed.rows;
    if (!rank(scanned[q].vector, near[q].finish(), scanned[q].margin, wanted, k, answers[q]))
      return ended(nullptr);
    answers[q].report.threads = threads;
    answers[q].plan = allowed.filtered ? "batch(filtered)" : "batch";
  }
  end_head_start();
  return {};
}

bool Partition::rank(const float* query, std::vector<NearRow>& near, double margin, std::size_t wanted,
                     std::size_t k, Answer& answer) const {
  const bool unverified = rows_.blocks().unverified();
  const auto rescore = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i + kPrefetchRows < end) {
        const float* row = rows_.row(near[i + kPrefetchRows].slot);
        prefetch(row, rows_.stride() * sizeof(float));
      }
      if (unverified && !rows_.sound(near[i].slot)) return false;
      near[i].score = score(query, near[i].slot);
    }
    answer.rescored += end - begin;
    return true;
  };
  const auto by_rank = [this](const NearRow& a, const NearRow& b) { return better(a, b); };
  // The best by first pass give a bar that rules most of the others out; what may reach it is scored too.
  const std::size_t first = std::isinf(margin) ? near.size() : std::min(wanted, near.size());
  if (first < near.size()) {
    std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(first), near.end(),
                     [](const NearRow& a, const NearRow& b) { return a.score > b.score; });
  }
  if (!rescore(0, first)) return false;
  if (first < near.size()) {
    float bar = 1.0f;
    for (std::size_t i = 0; i < first; ++i) bar = std::min(bar, near[i].score);
    near.erase(std::remove_if(near.begin() + static_cast<std::ptrdiff_t>(first), near.end(),
                              [=](const NearRow& row) { return row.score + margin < bar; }),
               near.end());
    if (!rescore(first, near.size())) return false;
  }
  const std::size_t kept = std::min(wanted, near.size());
  if (kept < near.size()) {
    std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept), near.end(), by_rank);
    near.resize(kept);
  }
  std::sort(near.begin(), near.end(), by_rank);
  const bool repeats = live_rows_ > key_count();
  std::unordered_set<Key> seen;
  answer.hits.clear();
  for (const NearRow& row : near) {
    if (answer.hits.size() == k) break;
    const SlotInfo& info = info_[row.slot];
    if (repeats && !seen.insert(info.key).second) continue;
    answer.hits.push_back({info.key, row.score, static_cast<std::uint8_t>(info.kind)});
  }
  return true;
}

Status Partition::scores_of(const float* query, const Key* keys, std::size_t n, double* scores) const {
  Status status = check_unit(kernels_, query, options_.dimensions, "vector");
  if (!status.ok()) return status;
  if (!(status = ready(true)).ok()) return status;
  std::shared_lock<RwLock> guard(lock_);
  return score_keys(query, keys, n, scores);
}

std::optional<Status> Partition::try_scores_of(const float* query, const Key* keys, std::size_t n,
                                               double* scores) const {
  Status status = check_unit(kernels_, query, options_.dimensions, "vector");
  if (!status.ok()) return status;
  if (indexing_.load()) return std::nullopt;
  if (!(status = ready(false)).ok()) return status;
  std::shared_lock<RwLock> guard(lock_, std::try_to_lock);
  if (!guard.owns_lock()) return std::nullopt;
  return score_keys(query, keys, n, scores);
}

/// Under the lock.
Status Partition::score_keys(const float* query, const Key* keys, std::size_t n, double* scores) const {
  for (std::size_t i = 0; i < n; ++i) {
    scores[i] = std::numeric_limits<double>::quiet_NaN();
    const KeyEntry* entry = keys_.find(keys[i]);
    if (entry == nullptr) continue;
    for (const Slot slot : entry->slots) {
      if (slot == kNoSlot) continue;
      if (!rows_.sound(slot)) return ended(nullptr);
      const double value = score(query, slot);
      if (!(scores[i] >= value)) scores[i] = value;
    }
  }
  return {};
}

Status Partition::rows_of(const Key* keys, std::size_t n, float* rows) const {
  const Status status = ready(true);
  if (!status.ok()) return status;
  std::shared_lock<RwLock> guard(lock_);
  return copy_rows(keys, n, rows);
}

std::optional<Status> Partition::try_rows_of(const Key* keys, std::size_t n, float* rows) const {
  if (indexing_.load()) return std::nullopt;
  const Status status = ready(false);
  if (!status.ok()) return status;
  std::shared_lock<RwLock> guard(lock_, std::try_to_lock);
  if (!guard.owns_lock()) return std::nullopt;
  return copy_rows(keys, n, rows);
}

/// Under the lock.
Status Partition::copy_rows(const Key* keys, std::size_t n, float* rows) const {
  const std::size_t dimensions = options_.dimensions;
  for (std::size_t i = 0; i < n; ++i) {
    const KeyEntry* entry = keys_.find(keys[i]);
    for (std::size_t kind = 0; kind < kRowKinds; ++kind, rows += dimensions) {
      const Slot slot = entry == nullptr ? kNoSlot : entry->slots[kind];
      if (slot == kNoSlot) {
        std::fill_n(rows, dimensions, std::numeric_limits<float>::quiet_NaN());
        continue;
      }
      if (!rows_.sound(slot)) return ended(nullptr);
      std::copy_n(rows_.row(slot), dimensions, rows);
    }
  }
  return {};
}

}  // namespace errata
