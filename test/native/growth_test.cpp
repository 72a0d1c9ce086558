#include <algorithm>

#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

ERRATA_TEST(a_partition_grows_to_a_million_rows_without_a_pause_of_five_milliseconds) {
#if !defined(__linux__)
  skip("time of a thread is only read on Linux");
#else
  if (kSlow) return skip("times under a sanitizer say nothing");
  constexpr std::size_t kDimensions = 8, kRows = 1'050'000;
  std::mt19937_64 random(seed());
  const std::vector<float> rows = random_units(1000, kDimensions, 0, random);
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = 2 * kRows;
  options.costs = &kGraphIsCheap;
  Partition partition(options, kernels());
  std::vector<double> longest;
  PutBatch batch = plain_batch(0, 1, rows.data(), kDimensions);
  batch.tags = {1, 2};
  batch.tag_begin = {0, 2};
  for (std::size_t i = 0; i < kRows; ++i) {
    batch.keys[0] = i;
    batch.orders[0] = {i, 0};
    batch.tags = {1, 2 + static_cast<Tag>(i % 50'000)};
    const double start = cpu_ms();
    CHECK(partition.put(batch).ok());
    longest.push_back(cpu_ms() - start);
  }
  std::partial_sort(longest.begin(), longest.begin() + 5, longest.end(), std::greater<double>());
  std::printf("  longest writes: %.2f, %.2f, %.2f, %.2f, %.2f ms of CPU\n", longest[0], longest[1],
              longest[2], longest[3], longest[4]);
  CHECK(longest[0] < 5);
  CHECK(partition.stats().keys == kRows);
#endif
}
