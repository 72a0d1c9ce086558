#include <algorithm>
#include <string>

#include "first_touches.hpp"
#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

#if defined(__linux__)
namespace {

constexpr double kLongestPauseMs = 5;
}  // namespace
#endif

ERRATA_TEST(blocks_of_rows_and_codes_are_whole_huge_pages) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  for (const std::size_t dimensions : {256, 384, 768, 1000, 1024}) {
    RowStore rows(dimensions);
    CodeStore codes(dimensions);
    for (BlockStore* store : {&rows.blocks(), &codes.blocks()}) {
      std::size_t small = 0, unused = 0, held = 0;
      for (std::size_t slots = kChunkSlots; slots <= 60'000; slots += kChunkSlots) {
        const std::size_t before = store->memory_bytes(), chunks = store->chunks();
        CHECK(store->reserve(slots));
        const std::size_t bytes = store->memory_bytes() - before;
        // The kernel gives no huge page for a part of one.
        small += bytes % kHuge;
        const std::size_t used = (store->chunks() - chunks) * store->chunk_bytes();
        CHECK(used <= bytes);
        unused += bytes - used;
        held += bytes;
      }
      // Doubling up to a huge page leaves less than two of them in small blocks; then all lies on such.
      CHECK(small < 2 * kHuge);
      CHECK(unused * 20 < held);
    }
  }
}

ERRATA_TEST(a_partition_grows_to_a_million_rows_without_a_pause_of_five_milliseconds) {
#if !defined(__linux__)
  skip("time of a thread is only read on Linux");
#else
  if (kSlow) return skip("times under a sanitizer say nothing");
  constexpr std::size_t kDimensions = 8, kRows = 1'050'000, kRuns = 3, kTouches = 64;
  std::mt19937_64 random(seed());
  const std::vector<float> rows = random_units(1000, kDimensions, 0, random);
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = 2 * kRows;
  options.costs = &kGraphIsCheap;
  // A pause that growth itself needs comes in every run.
  double longest = 1e12, touch = 1e12;
  for (std::size_t run = 0; run < kRuns && longest >= kLongestPauseMs; ++run) {
    FirstTouches machine(kTouches);
    Partition partition(options, kernels());
    PutBatch batch = plain_batch(0, 1, rows.data(), kDimensions);
    batch.tag_begin = {0, 2};
    double longest_write = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      batch.keys[0] = i;
      batch.orders[0] = {i, 0};
      batch.tags = {1, 2 + static_cast<Tag>(i % 50'000)};
      const double start = cpu_ms();
      CHECK(partition.put(batch).ok());
      longest_write = std::max(longest_write, cpu_ms() - start);
      if (i % (kRows / kTouches) == 0) machine.next();
    }
    CHECK(partition.stats().keys == kRows);
    std::printf("  longest write %.2f ms of CPU, longest first touch of a huge page %.2f ms\n", longest_write,
                machine.longest_ms());
    longest = std::min(longest, longest_write);
    touch = std::min(touch, machine.longest_ms());
  }
  if (longest >= kLongestPauseMs && touch >= kSlowTouchMs) {
    return skip("this machine needs " + std::to_string(touch) + " ms to give a huge page");
  }
  CHECK_MESSAGE(longest < kLongestPauseMs, std::to_string(longest) + " ms");
#endif
}
