#include <algorithm>
#include <cstdlib>
#include <string>

#include "first_touches.hpp"
#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

// Writes to a partition that is a graph while it grows, is rebuilt, shrinks and is scanned again. A write's
// pause is the processor time of the write itself and that of the longest section for which the background
// held the lock against it: both are measured apart from what else the machine does. ERRATA_GROWTH_ROWS sets
// how many rows of 384 dimensions there are, ERRATA_GROWTH_NODES how many nodes of few: with 1,000,000 the
// one takes an hour, the other a minute.

#if defined(__linux__)
namespace {

constexpr std::size_t kDimensions = 384;
constexpr double kLongestPauseMs = 5;
constexpr std::size_t kRuns = 3;

std::size_t count_of(const char* name, std::size_t usual) {
  const char* given = std::getenv(name);
  return given ? std::strtoull(given, nullptr, 10) : usual;
}

constexpr std::size_t kTouches = 64;

struct Pauses {
  double write_ms = 0, background_ms = 0;
  double touch_ms = 0;  // what the machine took for a huge page meanwhile
  double longest() const { return write_ms + background_ms; }
};

class Growing {
 public:
  Growing(std::size_t rows, std::size_t dimensions, const PartitionOptions& options)
      : n_(rows), dimensions_(dimensions), random_(seed()), partition_(options, kernels()) {
    pool_ = random_units(std::min<std::size_t>(2 * n_, 20'000), dimensions, 200, random_);
    batch_ = plain_batch(0, 1, pool_.data(), dimensions);
    batch_.tag_begin = {0, 2};
  }

  /// One row, as a submission writes it.
  void put(Key key) {
    const std::size_t row = random_() % (pool_.size() / dimensions_);
    std::copy_n(&pool_[row * dimensions_], dimensions_, batch_.vectors.begin());
    // No two rows are equal.
    batch_.vectors[0] += 1e-4f * static_cast<float>(key % 997);
    CHECK(simd::normalize_f32(kernels(), batch_.vectors.data(), dimensions_));
    batch_.keys[0] = key;
    batch_.orders[0] = {key, 0};
    batch_.tags = {1, 2 + static_cast<Tag>(key % 100)};
    const double start = cpu_ms();
    CHECK(partition_.put(batch_).ok());
    note(start);
  }
  void remove(Key key) {
    std::size_t removed = 0;
    const double start = cpu_ms();
    CHECK(partition_.remove(&key, 1, removed).ok());
    note(start);
    CHECK(removed == 1);
  }
  Pauses pauses() const {
    return {longest_, partition_.stats().longest_hold_us / 1e3, machine_.longest_ms()};
  }
  Partition& partition() { return partition_; }

 private:
  void note(double start) {
    longest_ = std::max(longest_, cpu_ms() - start);
    if (++writes_ % (n_ / (kTouches / 2)) == 0) machine_.next();
  }

  const std::size_t n_, dimensions_;
  std::mt19937_64 random_;
  Partition partition_;
  std::vector<float> pool_;
  PutBatch batch_;
  double longest_ = 0;
  std::size_t writes_ = 0;
  FirstTouches machine_{kTouches};
};

/// A pause that growth itself needs comes in every run.
template <typename Run>
void check_pauses(Run run) {
  Pauses shortest{1e12, 1e12};
  double touch = 1e12;
  for (std::size_t i = 0; i < kRuns && shortest.longest() >= kLongestPauseMs; ++i) {
    const Pauses pauses = run();
    std::printf("  longest write %.2f ms, section of the background %.2f ms, touch of a huge page %.2f ms\n",
                pauses.write_ms, pauses.background_ms, pauses.touch_ms);
    touch = std::min(touch, pauses.touch_ms);
    if (pauses.longest() < shortest.longest()) shortest = pauses;
  }
  if (shortest.longest() >= kLongestPauseMs && touch >= kSlowTouchMs)
    return skip("this machine needs " + std::to_string(touch) + " ms to give a huge page");
  CHECK_MESSAGE(shortest.longest() < kLongestPauseMs, std::to_string(shortest.longest()) + " ms");
}

}  // namespace
#endif

ERRATA_TEST(a_graph_of_384_dimensions_grows_and_is_rebuilt_without_a_pause_of_five_milliseconds) {
#if !defined(__linux__)
  skip("time of a thread is only read on Linux");
#else
  if (kSlow) return skip("times under a sanitizer say nothing");
  const std::size_t n = count_of("ERRATA_GROWTH_ROWS", 6000);
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = n / 2;
  check_pauses([n, &options] {
    Growing growing(n, kDimensions, options);
    Partition& partition = growing.partition();
    // Half of the rows are scanned, then the first graph is built beside the next ones.
    for (Key key = 0; key < n / 4 * 3; ++key) growing.put(key);
    partition.settle();
    CHECK(partition.stats().has_graph);
    // Each is linked as it is written.
    for (Key key = n / 4 * 3; key < n; ++key) growing.put(key);
    // Replaced until the graph is worn, and on while the next one is built.
    for (Key key = 0; key < n / 4 * 3; ++key) growing.put(key);
    partition.settle();
    const PartitionStats grown = partition.stats();
    CHECK(grown.has_graph && grown.keys == n && grown.rows == n);
    // Down to a scan, with its slots closed up.
    for (Key key = 0; key < n / 5 * 4 + 2; ++key) growing.remove(key);
    partition.settle();
    const PartitionStats left = partition.stats();
    CHECK_MESSAGE(!left.has_graph && left.tombstones < n / 4,
                  std::to_string(left.has_graph) + " graph, " + std::to_string(left.tombstones) +
                      " tombstones, " + std::to_string(left.rows) + " rows");
    return growing.pauses();
  });
#endif
}

ERRATA_TEST(a_graph_of_many_nodes_grows_and_goes_without_a_pause_of_five_milliseconds) {
#if !defined(__linux__)
  skip("time of a thread is only read on Linux");
#else
  if (kSlow) return skip("times under a sanitizer say nothing");
  // What depends on the number of nodes and not on their size: tables that grow, memory that goes back.
  constexpr std::size_t kFew = 4;
  const std::size_t n = count_of("ERRATA_GROWTH_NODES", 150'000), more = n / 10;
  PartitionOptions options;
  options.dimensions = kFew;
  options.graph = {2, 4};
  options.ef_search = 4;
  options.graph_threshold = n;
  options.costs = &kGraphIsCheap;
  check_pauses([n, more, &options] {
    Growing growing(n, kFew, options);
    for (Key key = 0; key < n; ++key) growing.put(key);
    growing.partition().settle();
    // More than the room that a new graph has.
    for (Key key = n; key < n + more; ++key) growing.put(key);
    growing.partition().settle();
    const PartitionStats grown = growing.partition().stats();
    CHECK(grown.has_graph && grown.rows == n + more);
    for (Key key = 0; key < n / 5 * 3 + more; ++key) growing.remove(key);
    growing.partition().settle();
    CHECK(!growing.partition().stats().has_graph);
    return growing.pauses();
  });
#endif
}
