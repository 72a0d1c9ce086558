#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

// A large graph whose ordinary beam misses many rows: those that a wide beam reaches are left to it, for all
// of them beside each search would cost more than the search.

ERRATA_TEST(of_too_many_rows_that_the_beam_misses_only_the_unreachable_are_kept_aside) {
  if (kSlow) return skip("a large graph takes minutes under a sanitizer");
  constexpr std::size_t kDimensions = 24, kRows = 110'000, kClusters = 1000, kMostAside = 4096,
                        kFewAside = 512;
  std::mt19937_64 random(seed());
  std::vector<float> rows = random_units(kRows, kDimensions, 0, random);
  const std::vector<float> centres = random_units(kClusters, kDimensions, 0, random);
  for (std::size_t i = 0; i < kRows; ++i) {
    float* row = &rows[i * kDimensions];
    for (std::size_t d = 0; d < kDimensions; ++d)
      row[d] = centres[i % kClusters * kDimensions + d] + 0.5f * row[d];
    CHECK(simd::normalize_f32(kernels(), row, kDimensions));
  }
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = 1000;
  options.graph = {5, 32};
  options.ef_search = 12;
  options.costs = &kGraphIsCheap;
  Partition partition(options, kernels());
  CHECK(partition.put(plain_batch(0, kRows, rows.data(), kDimensions)).ok());
  partition.settle();
  const auto missed_by = [&](std::size_t ef) {
    std::size_t missed = 0;
    for (Key key = 0; key < kRows; key += 40) {
      Answer answer;
      CHECK(partition.search({&rows[key * kDimensions], 10, ef, {}}, answer).ok());
      CHECK(answer.plan == "graph");
      missed += answer.hits[0].key != key;
    }
    return missed * 40;
  };
  const auto check = [&](const char* when) {
    const std::size_t aside = partition.stats().kept_aside, narrow = missed_by(0), wide = missed_by(512);
    std::printf("  %s: %zu aside, about %zu missed by the ordinary beam, %zu by a wide one\n", when, aside,
                narrow, wide);
    CHECK(aside < kFewAside && narrow > kMostAside / 2 && wide == 0);
  };
  check("built");
  AuditReport report;
  CHECK(partition.audit(report).ok());
  std::printf("  audit: %zu checked, %zu lost, %zu repaired, %zu aside\n", report.checked, report.lost,
              report.repaired, report.kept_aside);
  CHECK(report.checked == kRows && report.lost > kMostAside &&
        report.kept_aside == partition.stats().kept_aside);
  check("audited");
}
