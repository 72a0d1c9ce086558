#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "index/partition.hpp"
#include "index/scan_pool.hpp"

// Which rows a query may find, and how they are searched.

namespace errata {
namespace {

// A filtered search goes on until its beam is full of allowed rows, at most this share of a scan's time past
// what was expected: then the scan is due after all.
constexpr double kWorstShare = 0.3;
constexpr double kOverrun = 1.5;
constexpr double kWorthProbing = 0.25;
// A filter may shut out the query's own neighbourhood, and what comes next is spread over many others: 30k
// rows in 2,000 clusters, the half on the query's far side, recall@10 .941 with 1.5 times the beam, .978 with
// 3, .990 with 4.5 (random halves: .988, .994, .996).
constexpr double kFilteredBeam = 4.5;
// Half of the bits in a word: from there on whole chunks are compared (see scan.cpp).
constexpr double kDenseShare = 24.0 / 64.0;

// A thread's share of a scan: waking a helper takes 10 to 50 us.
constexpr double kLeastShareUs = 500;
// What is timed on a partition's own rows: enough to be told from noise, a few milliseconds in all.
constexpr std::size_t kSampleSearches = 24;
constexpr std::size_t kSampleFiltered = 12;
constexpr std::size_t kSampleRows = 8192;
constexpr std::size_t kSampleRuns = 3;

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

Partition::Allowed Partition::allow(const Filter& filter) const {
  Allowed allowed;
  if (filter.empty()) {
    allowed.bitmap = &live_;
    allowed.rows = live_rows_;
    allowed.keys = key_count();
    return allowed;
  }
  allowed.filtered = true;
  const SlotSet* slots = nullptr;
  if (filter.size() == 1 && filter[0] <= kLargestTag) {
    slots = tags_.find(filter[0]);
  } else {
    allowed.cached = filters_.find(filter);
    if (!allowed.cached) allowed.cached = filters_.insert(filter, evaluate(filter, tags_, live_, primary_));
    slots = allowed.cached.get();
  }
  if (slots == nullptr) return allowed;
  allowed.rows = slots->size();
  allowed.keys = slots->notes();
  if (slots->dense()) {
    allowed.bitmap = &slots->bitmap();
  } else {
    allowed.list = &slots->list();
  }
  return allowed;
}

std::size_t Partition::beam(const Query& query, bool filtered) const {
  const std::size_t rows_a_key = live_rows_ > key_count() ? kRowKinds : 1;
  const std::size_t wanted = std::min(query.k, live_rows_) * rows_a_key;
  // A beam that a query names is taken at its word. The partition's own holds what is scored exactly, too, as
  // do those of the audit.
  if (!filtered && query.ef) return std::max(query.ef, wanted);
  const std::size_t ef = std::max(query.ef ? query.ef : options_.ef_search, wanted + kRescoreRows);
  return filtered ? static_cast<std::size_t>(static_cast<double>(ef) * kFilteredBeam) : ef;
}

std::size_t Partition::rows_wanted(const Allowed& allowed, std::size_t k) const {
  // Among the best k * r rows there are k keys, where a key owns at most r of them.
  const std::size_t rows_a_key = live_rows_ > key_count() ? kRowKinds : 1;
  return std::min(allowed.rows, k * rows_a_key);
}

std::size_t Partition::scan_threads(double us) const {
  if (options_.scan_threads == 1 || us < 2 * kLeastShareUs) return 1;
  const std::size_t there = ScanPool::shared().threads();
  const std::size_t most = options_.scan_threads == 0 ? there : std::min(options_.scan_threads, there);
  return std::min(most, static_cast<std::size_t>(us / kLeastShareUs));
}

Partition::Plan Partition::plan(const Query& query, const Allowed& allowed) const {
  Plan plan;
  PlanReport& report = plan.report;
  report.allowed_rows = allowed.rows;
  report.allowed_keys = allowed.keys;
  report.graph_us = std::numeric_limits<double>::quiet_NaN();
  const double rows = static_cast<double>(allowed.rows);
  const double slots = static_cast<double>(std::max<std::size_t>(1, info_.size()));
  const double share = rows / slots;
  // A dense filter compares whole chunks, its own rows and the others.
  report.scan_us =
      costs_.fixed_us + (share >= kDenseShare ? slots * costs_.row_us : rows * costs_.picked_row_us);
  if (!allowed.list) report.threads = scan_threads(report.scan_us);
  report.estimated_us = report.scan_us / static_cast<double>(report.threads);
  if (!graph_ || allowed.list || allowed.rows == 0 || query.way == Way::kScan) return plan;

  // A filter that lets all pass is none.
  const bool filtered = allowed.filtered && allowed.rows < live_rows_;
  const std::size_t ef = beam(query, filtered);
  const double node_us = costs_.node_us * (filtered ? graph_costs_.filtered_node : 1.0);
  const double fewest = static_cast<double>(ef) *
                        (filtered ? graph_costs_.filtered_nodes_per_beam : graph_costs_.nodes_per_beam);
  const double aside_us = static_cast<double>(kept_aside_.size()) * costs_.picked_row_us;
  report.graph_us = costs_.fixed_us + aside_us + std::min(slots, fewest / share) * node_us;
  // Where matches lie close to the query the graph does much better than it would on a random filter: the
  // first few hundred nodes tell.
  const bool probe = fewest * node_us < kWorthProbing * report.scan_us;
  const bool forced = query.way == Way::kGraph;
  if (report.graph_us >= report.scan_us && !(filtered && probe) && !forced) return plan;
  plan.graph = true;
  report.threads = 1;
  plan.search.ef = report.ef = ef;
  report.estimated_us = forced ? report.graph_us : std::min(report.graph_us, report.scan_us);
  if (!filtered || forced) return plan;
  const double most_us =
      std::max(kWorstShare * report.scan_us, std::min(kOverrun * report.graph_us, report.scan_us));
  plan.search.budget = report.budget = static_cast<std::size_t>(std::max(fewest, most_us / node_us));
  plan.search.unfiltered = static_cast<std::size_t>(fewest);
  plan.search.expected_share = share;
  return plan;
}

/// Searches for rows of its own, each under the lock by itself. Takes the quicker runs: what disturbs a run
/// only makes it longer. False where nothing could be measured.
bool Partition::time_searches(const Graph& graph, const std::vector<Slot>& slots, const Bitmap* allowed,
                              double& node_us, double& nodes_per_beam) const {
  std::vector<double> times;
  std::size_t distances = 0;
  GraphSearch search;
  search.allowed = allowed;
  search.wanted = search.ef =
      static_cast<std::size_t>(static_cast<double>(options_.ef_search) * (allowed ? kFilteredBeam : 1.0));
  const std::size_t searches = allowed ? kSampleFiltered : kSampleSearches;
  for (std::size_t i = 0; i < searches; ++i) {
    const HeldShared guard(lock_, longest_hold_);
    const ScanQuery query(source(), rows_.row(slots[i * slots.size() / searches]));
    search.vector = query.vector;
    search.coded = &query.coded;
    const Clock::time_point start = Clock::now();
    if (!graph.search(search).ok() || search.distances == 0) return false;
    times.push_back(us_since(start) / static_cast<double>(search.distances));
    distances += search.distances;
  }
  const auto quick = times.begin() + static_cast<std::ptrdiff_t>(searches / 4);
  std::nth_element(times.begin(), quick, times.end());
  node_us = *quick;
  nodes_per_beam = static_cast<double>(distances) / static_cast<double>(searches * search.ef);
  return true;
}

/// The calibration at start knows neither how far apart this partition's rows lie in memory nor how its graph
/// is shaped. All in all 20 ms, so the lock is let go in between: rows that go meanwhile leave their bytes
/// behind, since only the background, which this is, gives memory back.
void Partition::measure_costs(const Graph& graph, CostModel& costs, GraphCosts& graph_costs) const {
  std::vector<Slot> slots;
  // A random half, as a filter without any pattern.
  Bitmap half;
  std::size_t count = 0, passed = 0, words = 0;
  {
    const HeldShared guard(lock_, longest_hold_);
    count = info_.size();
    const std::size_t step = std::max<std::size_t>(1, count / kSampleRows);
    for (std::size_t slot = 0; slot < count; slot += step) {
      if (live_.test(slot)) slots.push_back(static_cast<Slot>(slot));
    }
    std::mt19937_64 random(1);
    words = live_.word_count();
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t bits = live_.word(word) & random();
      half.or_word(word, bits);
      passed += count_bits(bits);
    }
  }
  if (slots.size() < kSampleSearches) return;
  double node_us = 0, filtered_us = 0;
  if (!time_searches(graph, slots, nullptr, node_us, graph_costs.nodes_per_beam)) return;
  if (time_searches(graph, slots, &half, filtered_us, graph_costs.filtered_nodes_per_beam)) {
    graph_costs.filtered_nodes_per_beam *= static_cast<double>(passed) / static_cast<double>(count);
    if (options_.costs == nullptr) graph_costs.filtered_node = std::max(1.0, filtered_us / node_us);
  }
  if (options_.costs != nullptr) return;
  costs.node_us = node_us;
  double picked = 1e12, whole = 1e12;
  const std::size_t scanned = std::min(words, kSampleRows / kChunkSlots);
  for (std::size_t run = 0; run < kSampleRuns; ++run) {
    const HeldShared guard(lock_, longest_hold_);
    const ScanSource source = this->source();
    const ScanQuery query(source, rows_.row(slots[0]));
    NearRows near(10, query.margin);
    Clock::time_point start = Clock::now();
    (void)scan_list(source, query, slots, near, nullptr);
    picked = std::min(picked, us_since(start));
    start = Clock::now();
    // Another part each time, so that it comes out of memory as in a search.
    const std::size_t first = words / kSampleRuns * run;
    (void)scan_words(source, query, live_, first, first + scanned, near, nullptr);
    whole = std::min(whole, us_since(start));
  }
  costs.picked_row_us = picked / static_cast<double>(slots.size());
  if (scanned * kChunkSlots == kSampleRows) costs.row_us = whole / static_cast<double>(kSampleRows);
}

}  // namespace errata
