#include <limits>

#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

namespace {

constexpr std::size_t kDimensions = 20;  // no multiple of a register or a cache line

PartitionOptions options(std::size_t graph_threshold = 1'000'000) {
  PartitionOptions made;
  made.dimensions = kDimensions;
  made.graph_threshold = graph_threshold;
  made.costs = &kGraphIsCheap;
  return made;
}

/// One random step on a partition and on its model.
class Churn {
 public:
  Churn(Partition& partition, std::size_t keys, std::uint64_t seed)
      : partition_(partition), keys_(keys), random_(seed), pool_(random_units(64, kDimensions, 0, random_)) {}

  void put(std::size_t n) {
    PutBatch batch;
    batch.row_begin.push_back(0);
    batch.tag_begin.push_back(0);
    std::set<Key> chosen;
    while (chosen.size() < n) chosen.insert(random_() % keys_);
    for (const Key key : chosen) {
      NaivePartition::Entry entry;
      entry.order = {key % 5, key / 7};  // many equal: ties go down to the key
      const unsigned kinds = 1 + random_() % 3;
      for (std::uint8_t kind = 0; kind < 2; ++kind) {
        if (!((kinds >> kind) & 1)) continue;
        const std::vector<float> row = vector();
        batch.vectors.insert(batch.vectors.end(), row.begin(), row.end());
        batch.kinds.push_back(kind);
        entry.rows[kind] = row;
      }
      for (Tag tag = 1; tag <= 3; ++tag) {
        if (random_() % tag == 0) entry.tags.insert(tag);
      }
      if (random_() % 40 == 0) entry.tags.insert(100 + static_cast<Tag>(random_() % 4));
      batch.tags.insert(batch.tags.end(), entry.tags.begin(), entry.tags.end());
      batch.keys.push_back(key);
      batch.orders.push_back(entry.order);
      batch.row_begin.push_back(static_cast<std::uint32_t>(batch.kinds.size()));
      batch.tag_begin.push_back(static_cast<std::uint32_t>(batch.tags.size()));
      model_.entries[key] = entry;
    }
    CHECK(partition_.put(batch).ok());
  }

  void remove(std::size_t n) {
    std::vector<Key> gone;
    for (std::size_t i = 0; i < n; ++i) gone.push_back(random_() % keys_);
    std::size_t expected = 0, removed = 0;
    for (const Key key : gone) expected += model_.entries.erase(key);
    CHECK(partition_.remove(gone.data(), gone.size(), removed).ok());
    CHECK(removed == expected);
  }

  void search() {
    static const std::vector<std::vector<Tag>> kFilters = {{},     {},    {1},      {2},  {3},
                                                           {2, 3}, {100}, {3, 101}, {999}};
    const std::vector<Tag>& tags = kFilters[random_() % kFilters.size()];
    const std::vector<float> row = vector();
    Query query{row.data(), 1 + random_() % 30, 0, tags};
    Answer answer;
    CHECK(partition_.search(query, answer).ok());
    const std::vector<Hit> expected = model_.search(row.data(), kDimensions, query.k, tags);
    if (answer.exhaustive) {
      CHECK_MESSAGE(same(answer.hits, expected), answer.plan);
      return;
    }
    ++graph_answers;
    CHECK_MESSAGE(answer.hits.size() == expected.size(), answer.plan);
    for (const Hit& hit : answer.hits) {
      const auto entry = model_.entries.find(hit.key);
      CHECK(entry != model_.entries.end());
      for (const Tag tag : tags) CHECK(entry->second.tags.count(tag) == 1);
      for (const Hit& wanted : expected) recalled += wanted.key == hit.key;
    }
    wanted_hits += expected.size();
  }

  void check_totals() {
    const PartitionStats stats = partition_.stats();
    std::size_t rows = 0;
    for (const auto& [key, entry] : model_.entries) rows += entry.rows.size();
    CHECK(stats.keys == model_.entries.size());
    CHECK(stats.rows == rows);
  }

  std::mt19937_64& random() { return random_; }
  std::size_t graph_answers = 0, recalled = 0, wanted_hits = 0;

 private:
  /// Half of the vectors come from a small pool: exact ties are frequent.
  std::vector<float> vector() {
    if (random_() % 2) return random_units(1, kDimensions, 0, random_);
    const auto begin = pool_.begin() + static_cast<std::ptrdiff_t>(random_() % 64 * kDimensions);
    return std::vector<float>(begin, begin + kDimensions);
  }

  Partition& partition_;
  std::size_t keys_;
  std::mt19937_64 random_;
  std::vector<float> pool_;
  NaivePartition model_;
};

}  // namespace

ERRATA_TEST(random_writes_on_a_scanned_partition_answer_exactly_like_the_naive_model) {
  Partition partition(options(), kernels());
  Churn churn(partition, 300, seed());
  for (int step = 0; step < 3000; ++step) {
    const unsigned die = churn.random()() % 10;
    if (die < 3) churn.put(1 + churn.random()() % 10);
    if (die == 3) churn.remove(1 + churn.random()() % 15);
    if (die > 3) churn.search();
    if (step % 200 == 199) {
      std::size_t freed = 0;
      CHECK(partition.compact(freed).ok());
    }
  }
  churn.check_totals();
}

ERRATA_TEST(random_writes_on_a_graph_partition_stay_complete_and_find_nearly_all) {
  Partition partition(options(500), kernels());
  Churn churn(partition, 8000, seed() + 1);
  for (int i = 0; i < 150; ++i) churn.put(40);
  partition.settle();
  CHECK(partition.stats().has_graph);
  for (int step = 0; step < 4000; ++step) {
    const unsigned die = churn.random()() % 10;
    if (die < 2) churn.put(1 + churn.random()() % 4);
    if (die == 2) churn.remove(1 + churn.random()() % 8);
    if (die > 2) churn.search();
  }
  partition.settle();
  churn.check_totals();
  const double recall = double(churn.recalled) / double(std::max<std::size_t>(1, churn.wanted_hits));
  std::printf("  %zu graph answers, recall %.4f after churn\n", churn.graph_answers, recall);
  CHECK(churn.graph_answers > 100);
  CHECK(recall > 0.9);
}

ERRATA_TEST(a_graph_comes_with_growth_and_goes_with_shrinking_and_compaction) {
  Partition partition(options(1000), kernels());
  std::mt19937_64 random(seed());
  const std::vector<float> rows = random_units(4000, kDimensions, 50, random);
  CHECK(partition.put(plain_batch(0, 999, rows.data(), kDimensions)).ok());
  partition.settle();
  CHECK(!partition.stats().has_graph);
  CHECK(partition.put(plain_batch(999, 3001, rows.data() + 999 * kDimensions, kDimensions)).ok());
  partition.settle();
  CHECK(partition.stats().has_graph);
  std::vector<Key> gone;
  for (Key key = 0; key < 2000; ++key) gone.push_back(key);
  std::size_t count = 0;
  CHECK(partition.remove(gone.data(), gone.size(), count).ok() && count == 2000);
  // Half of the slots are free: they are closed up in the background, and the graph answers all the while.
  CHECK(partition.stats().has_graph);
  partition.settle();
  CHECK(partition.stats().compactions > 0);
  CHECK(partition.stats().has_graph);
  CHECK(partition.stats().tombstones == 0);
  CHECK(partition.remove(gone.data(), 1, count).ok() && count == 0);
  for (Key key = 2000; key < 3600; ++key) gone[key - 2000] = key;
  CHECK(partition.remove(gone.data(), 1600, count).ok() && count == 1600);
  CHECK(!partition.stats().has_graph);
  Answer answer;
  CHECK(partition.search({rows.data() + 3999 * kDimensions, 1, 0, {}}, answer).ok());
  CHECK(answer.hits.size() == 1 && answer.hits[0].key == 3999);
}

ERRATA_TEST(bad_input_is_refused_with_its_code_and_nothing_is_applied) {
  Partition partition(options(), kernels());
  std::mt19937_64 random(seed());
  const std::vector<float> rows = random_units(3, kDimensions, 0, random);
  const PutBatch good = plain_batch(0, 3, rows.data(), kDimensions);
  const auto refused = [&](Code code, auto&& spoil) {
    PutBatch batch = good;
    spoil(batch);
    CHECK(partition.put(batch).code == code);
    CHECK(partition.stats().keys == 0);
  };
  refused(Code::kInvalidVector, [](PutBatch& b) { b.vectors[kDimensions * 2] = std::nanf(""); });
  refused(Code::kInvalidVector, [](PutBatch& b) { b.vectors[0] += 1; });
  refused(Code::kInvalidVector, [](PutBatch& b) { b.vectors.pop_back(); });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.kinds[1] = 2; });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.orders.pop_back(); });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.row_begin = {0, 2, 1, 3}; });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.row_begin = {0, 5, 1, 3}; });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.row_begin = {0, 2, 2, 3}; });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.row_begin = {0, 2, 3}; });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.tag_begin = {0, 2, 1, 0}; });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.tag_begin = {0, 0, 0, 1}; });
  refused(Code::kInvalidInput, [](PutBatch& b) { b.row_begin = {}; });
  CHECK(partition.put(good).ok());
  Answer answer;
  CHECK(partition.search({rows.data(), 0, 0, {}}, answer).code == Code::kInvalidInput);
  const std::vector<float> zero(kDimensions, 0.0f);
  CHECK(partition.search({zero.data(), 1, 0, {}}, answer).code == Code::kInvalidVector);
  CHECK(partition.search({rows.data(), std::numeric_limits<std::size_t>::max(), 0, {}}, answer).ok());
  CHECK(answer.hits.size() == 3);
  partition.close();
  CHECK(partition.put(good).code == Code::kClosed);
}
