#include "index/cost_model.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <tuple>

#include "index/graph.hpp"
#include "index/scan.hpp"

namespace errata {
namespace {

using Clock = std::chrono::steady_clock;

// 12 MB of codes at 384 dimensions: past second-level caches (1 to 2 MB), and filled in a few milliseconds.
constexpr std::size_t kSampleBytes = std::size_t{12} << 20;
constexpr std::size_t kGraphRows = 256;
constexpr std::size_t kRuns = 5;
constexpr double kBudgetMs = 60;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// The quickest of a few runs: what disturbs a run only ever makes it longer.
template <typename Run>
double quickest_us(Clock::time_point started, Run run) {
  double best = 1e12;
  for (std::size_t i = 0; i < kRuns && (i == 0 || us_since(started) < kBudgetMs * 1e3); ++i) {
    const Clock::time_point start = Clock::now();
    run();
    best = std::min(best, us_since(start));
  }
  return best;
}

std::unique_ptr<CostModel> measure(const simd::Kernels& kernels, std::size_t dimensions, bool with_codes) {
  const Clock::time_point started = Clock::now();
  auto costs = std::make_unique<CostModel>();
  RowStore rows(dimensions);
  CodeStore codes(dimensions);
  const std::size_t row_bytes = with_codes ? codes.stride() : rows.stride() * sizeof(float);
  const std::size_t count = std::clamp(kSampleBytes / row_bytes, std::size_t{1024}, std::size_t{65'536});
  if (!rows.blocks().reserve(with_codes ? kGraphRows : count) ||
      (with_codes && !codes.blocks().reserve(count))) {
    return costs;  // zeros: every plan looks the same, and the scan is taken
  }
  // A few real rows for the graph; the rest repeats their bytes, for time does not depend on values.
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const std::size_t real = std::min(count, kGraphRows);
  for (std::size_t i = 0; i < real; ++i) {
    float* row = rows.row(static_cast<Slot>(i));
    for (std::size_t d = 0; d < rows.stride(); ++d) row[d] = d < dimensions ? uniform(random) : 0;
    kernels.divide_f32(row, dimensions, std::sqrt(kernels.sum_squares_f32(row, dimensions)));
    if (with_codes) (void)codes.encode(static_cast<Slot>(i), row, kernels);
  }
  BlockStore& blocks = with_codes ? codes.blocks() : rows.blocks();
  for (std::size_t chunk = real / kChunkSlots; chunk < count / kChunkSlots; ++chunk) {
    std::copy_n(blocks.chunk(chunk % (real / kChunkSlots)), blocks.chunk_bytes(), blocks.chunk(chunk));
  }

  // The budget counts from here: where the first touch of memory is dear, filling the sample would use it up.
  const Clock::time_point measuring = Clock::now();
  const ScanSource source{rows, with_codes ? &codes : nullptr, kernels, 0.01};
  const std::vector<float> vector(rows.row(0), rows.row(0) + dimensions);
  Bitmap all;
  for (std::size_t word = 0; word < count / kChunkSlots; ++word) all.or_word(word, ~std::uint64_t{0});
  std::vector<Slot> picked(count / 8);
  for (std::size_t i = 0; i < picked.size(); ++i) picked[i] = static_cast<Slot>(i * 8 + random() % 8);

  constexpr std::size_t kHits = 10;
  costs->fixed_us = quickest_us(measuring, [&] {
    const ScanQuery query(source, vector.data());
    NearRows near(kHits, query.margin);
    for (std::size_t i = 0; i < kHits; ++i) near.offer(0.5f, static_cast<Slot>(i));
    double sum = 0;
    for (const NearRow& row : near.finish())
      sum += kernels.dot_f64(vector.data(), rows.row(row.slot), dimensions);
    if (sum > 1e9) all.clear(0);  // never: the sum must be taken
  });
  const ScanQuery query(source, vector.data());
  costs->row_us = quickest_us(measuring,
                              [&] {
                                NearRows near(kHits, 0);
                                (void)scan_words(source, query, all, 0, all.word_count(), near, nullptr);
                              }) /
                  static_cast<double>(count / kChunkSlots * kChunkSlots);
  costs->picked_row_us = quickest_us(measuring,
                                     [&] {
                                       NearRows near(kHits, 0);
                                       (void)scan_list(source, query, picked, near, nullptr);
                                     }) /
                         static_cast<double>(picked.size());

  // The graph's own work beside the comparison comes from a small graph; its rows come from far apart, like
  // rows picked by a filter.
  Graph graph(rows, with_codes ? &codes : nullptr, kernels, {16, 32});
  bool built = graph.reserve(real).ok();
  for (std::size_t i = 0; built && i < real; ++i) built = graph.add(0).ok();
  GraphSearch search;
  search.vector = vector.data();
  search.coded = &query.coded;
  search.wanted = 30;
  search.ef = 64;
  const double graph_us = quickest_us(measuring, [&] { built = built && graph.search(search).ok(); });
  std::vector<Slot> near_slots(real);
  std::iota(near_slots.begin(), near_slots.end(), Slot{0});
  const double compare_us = quickest_us(measuring,
                                        [&] {
                                          NearRows near(kHits, 0);
                                          (void)scan_list(source, query, near_slots, near, nullptr);
                                        }) /
                            static_cast<double>(real);
  const double traversal_us = graph_us / static_cast<double>(std::max<std::size_t>(1, search.distances));
  costs->node_us = std::max(traversal_us - compare_us, 0.0) + costs->picked_row_us;
  costs->calibration_ms = us_since(started) / 1e3;
  return costs;
}

}  // namespace

const CostModel& calibrated_costs(const simd::Kernels& kernels, std::size_t dimensions, bool codes) {
  static std::mutex mutex;
  static std::map<std::tuple<const simd::Kernels*, std::size_t, bool>, std::unique_ptr<CostModel>> measured;
  std::lock_guard<std::mutex> guard(mutex);
  std::unique_ptr<CostModel>& costs = measured[{&kernels, dimensions, codes}];
  if (!costs) costs = measure(kernels, dimensions, codes);
  return *costs;
}

}  // namespace errata
