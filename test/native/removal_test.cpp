#include <atomic>
#include <thread>

#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

namespace {

constexpr std::size_t kDimensions = 48;

PartitionOptions graph_options(std::size_t threshold) {
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = threshold;
  options.costs = &kGraphIsCheap;
  return options;
}

void remove_keys(Partition& partition, const std::vector<Key>& keys) {
  std::size_t removed = 0;
  CHECK(partition.remove(keys.data(), keys.size(), removed).ok());
  CHECK(removed == keys.size());
}

std::size_t lost_keys(const Partition& partition, const std::vector<float>& rows, const std::set<Key>& keys) {
  std::size_t lost = 0;
  for (const Key key : keys) {
    Answer answer;
    CHECK(partition.search({&rows[key * kDimensions], 1, 0, {}}, answer).ok());
    CHECK_MESSAGE(answer.plan == "graph", answer.plan);
    lost += answer.hits.size() != 1 || answer.hits[0].key != key;
  }
  return lost;
}

}  // namespace

ERRATA_TEST(after_heavy_removal_and_reuse_an_audit_leaves_every_live_key_findable) {
  std::mt19937_64 random(seed());
  const std::size_t n = kSlow ? 1500 : 6000;
  const std::vector<float> rows = random_units(4 * n, kDimensions, 300, random);
  PartitionOptions options = graph_options(500);
  options.graph = {3, 8};  // so thin that rows do get lost
  options.ef_search = 12;
  Partition partition(options, kernels());
  CHECK(partition.put(plain_batch(0, n, rows.data(), kDimensions)).ok());
  partition.settle();
  std::set<Key> live;
  for (Key key = 0; key < n; ++key) live.insert(key);
  // Slots are reused by rows from elsewhere, again and again, below the ratio of a rebuild.
  for (Key round = 1; round < 4; ++round) {
    std::vector<Key> gone;
    for (const Key key : live) {
      if (random() % 8 == 0) gone.push_back(key);
    }
    remove_keys(partition, gone);
    for (const Key key : gone) live.erase(key);
    for (std::size_t i = 0; i < gone.size(); ++i) {
      const Key key = round * n + i;
      CHECK(partition.put(plain_batch(key, 1, &rows[key * kDimensions], kDimensions)).ok());
      live.insert(key);
    }
  }
  partition.settle();
  const std::size_t before = lost_keys(partition, rows, live);
  AuditReport report;
  CHECK(partition.audit(report).ok());
  const std::size_t after = lost_keys(partition, rows, live);
  std::printf("  %zu of %zu lost before, %zu after; audit: %zu checked, %zu lost, %zu repaired, %zu aside\n",
              before, live.size(), after, report.checked, report.lost, report.repaired, report.kept_aside);
  CHECK(after == 0 && report.checked == live.size());
  // Those before were kept aside by the audits that churn had started.
  CHECK(report.lost > 0 && before <= report.lost);
  CHECK(report.repaired > 0 && report.kept_aside == partition.stats().kept_aside);
}

ERRATA_TEST(rows_that_a_graph_does_not_find_are_compared_by_their_codes) {
  // Dense clusters of near-equal rows: links stay within them, so that a thin graph loses many.
  std::mt19937_64 random(seed());
  constexpr std::size_t n = 3000, kClusters = 10;
  const std::vector<float> centres = random_units(kClusters, kDimensions, 0, random);
  std::vector<float> rows(n * kDimensions);
  std::normal_distribution<float> noise(0, 0.01f);
  for (std::size_t i = 0; i < n; ++i) {
    float* row = &rows[i * kDimensions];
    for (std::size_t d = 0; d < kDimensions; ++d)
      row[d] = centres[i % kClusters * kDimensions + d] + noise(random);
    CHECK(simd::normalize_f32(kernels(), row, kDimensions));
  }
  PartitionOptions options = graph_options(500);
  options.graph = {3, 8};
  options.ef_search = 12;
  Partition partition(options, kernels());
  CHECK(partition.put(plain_batch(0, n, rows.data(), kDimensions)).ok());
  partition.settle();
  AuditReport report;
  CHECK(partition.audit(report).ok());
  const std::size_t aside = partition.stats().kept_aside;
  std::printf("  %zu of %zu kept aside\n", aside, n);
  CHECK(aside > 200);
  std::size_t asked = 0, missed = 0;
  for (Key key = 0; key < n; key += 7) {
    Answer answer;
    CHECK(partition.search({&rows[key * kDimensions], 10, 0, {}}, answer).ok());
    CHECK(answer.plan == "graph" && answer.hits.size() == 10);
    CHECK(answer.compared >= aside && answer.rescored < aside / 2);
    missed += answer.hits[0].key != key;
    ++asked;
    // A wider beam finds some of those that are aside too: none may be there twice.
    CHECK(partition.search({&rows[key * kDimensions], 40, 256, {}}, answer).ok());
    std::set<Key> once;
    for (const Hit& hit : answer.hits) once.insert(hit.key);
    CHECK(answer.hits.size() == 40 && once.size() == 40);
  }
  // About half of the rows are aside and would be missed without them.
  std::printf("  %zu of %zu missed\n", missed, asked);
  CHECK(missed == 0);
}

ERRATA_TEST(compaction_begins_by_itself_and_the_graph_answers_until_the_next_one_is_there) {
  std::mt19937_64 random(seed());
  const std::size_t n = kSlow ? 5000 : 9000;
  const std::vector<float> rows = random_units(n, kDimensions, 300, random);
  Partition partition(graph_options(500), kernels());
  CHECK(partition.put(plain_batch(0, n, rows.data(), kDimensions)).ok());
  partition.settle();
  const std::size_t bytes = partition.stats().row_bytes;
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> scans{0}, graphs{0}, wrong{0};
  std::thread searcher([&] {
    for (Key key = 0; !stop.load(); key = (key + 2) % n) {
      Answer answer;
      if (!partition.search({&rows[key * kDimensions], 1, 256, {}}, answer).ok()) wrong.fetch_add(1);
      if (answer.hits.size() != 1 || answer.hits[0].key != key) wrong.fetch_add(1);
      (answer.plan == "graph" ? graphs : scans).fetch_add(1);
    }
  });
  std::vector<Key> gone;
  for (Key key = 1; key < n; key += 2) gone.push_back(key);
  remove_keys(partition, gone);
  partition.settle();
  stop.store(true);
  searcher.join();
  const PartitionStats stats = partition.stats();
  std::printf("  %zu searches by graph, %zu otherwise; rows %zu to %zu kB\n", graphs.load(), scans.load(),
              bytes / 1024, stats.row_bytes / 1024);
  CHECK(stats.compactions > 0 && stats.tombstones == 0 && stats.rows == n - gone.size());
  CHECK(stats.row_bytes < bytes && stats.has_graph);
  CHECK(wrong.load() == 0 && scans.load() == 0 && graphs.load() > 0);
}

ERRATA_TEST(a_graph_built_by_several_threads_beside_writers_finds_every_row) {
  std::mt19937_64 random(seed());
  const std::size_t n = kSlow ? 4000 : 12'000;
  const std::vector<float> rows = random_units(n + 1000, kDimensions, 300, random);
  PartitionOptions options = graph_options(n);
  options.build_threads = 4;
  Partition partition(options, kernels());
  CHECK(partition.put(plain_batch(0, n, rows.data(), kDimensions)).ok());
  // Meanwhile: new rows, replaced rows, removed rows.
  std::set<Key> live;
  for (Key key = 0; key < n + 1000; ++key) live.insert(key);
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(partition.put(plain_batch(n + i, 1, &rows[(n + i) * kDimensions], kDimensions)).ok());
    if (i % 4 == 0) {
      const Key key = i * 3;
      remove_keys(partition, {key});
      live.erase(key);
    }
  }
  partition.settle();
  CHECK(partition.stats().has_graph);
  AuditReport report;
  CHECK(partition.audit(report).ok());
  CHECK(report.checked == live.size());
  CHECK(lost_keys(partition, rows, live) == 0);
  std::printf("  %zu of %zu rows had to be linked anew\n", report.lost, live.size());
}

ERRATA_TEST(a_new_graph_finds_every_row_without_an_audit) {
  // Insertions beside each other push links out: in 96 such graphs 45 rows were lost for good.
  constexpr std::size_t n = 3000, kBuilds = 8;
  std::size_t lost = 0, aside = 0, audits = 0;
  for (const std::size_t connectivity : {6, 8, 12, 16}) {
    for (std::size_t build = 0; build < (kSlow ? 1 : kBuilds); ++build) {
      std::mt19937_64 random(seed() + build);
      const std::vector<float> rows = random_units(n, kDimensions, 100, random);
      PartitionOptions options = graph_options(n);
      options.graph = {connectivity, 4 * connectivity};
      options.build_threads = 2;
      Partition partition(options, kernels());
      CHECK(partition.put(plain_batch(0, n, rows.data(), kDimensions)).ok());
      partition.settle();
      std::set<Key> keys;
      for (Key key = 0; key < n; ++key) keys.insert(key);
      lost += lost_keys(partition, rows, keys);
      aside += partition.stats().kept_aside;
      audits += partition.stats().audits;
    }
  }
  std::printf("  %zu lost, %zu kept aside, %zu audits\n", lost, aside, audits);
  CHECK(lost == 0 && aside < 100);
}

ERRATA_TEST(an_audit_counts_equal_rows_as_found_and_of_an_empty_partition_checks_nothing) {
  std::mt19937_64 random(seed());
  const std::vector<float> few = random_units(8, kDimensions, 0, random);
  std::vector<float> rows;
  for (std::size_t i = 0; i < 2000; ++i) {
    const auto row = few.begin() + static_cast<std::ptrdiff_t>(i % 8 * kDimensions);
    rows.insert(rows.end(), row, row + kDimensions);
  }
  Partition partition(graph_options(100), kernels());
  AuditReport report;
  CHECK(partition.audit(report).ok() && report.checked == 0);
  CHECK(partition.put(plain_batch(0, 2000, rows.data(), kDimensions)).ok());
  partition.settle();
  CHECK(partition.audit(report).ok());
  CHECK(report.checked == 2000);
  // However many rows are equal, ties fall by order, and every one is there.
  Answer answer;
  CHECK(partition.search({rows.data(), 2000, 0, {}}, answer).ok());
  CHECK(answer.hits.size() == 2000);
  partition.close();
  CHECK(partition.audit(report).code == Code::kClosed);
}
