#include <atomic>
#include <thread>

#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

namespace {

constexpr std::size_t kDimensions = 24;
constexpr std::size_t kStaying = 3000;

}  // namespace

ERRATA_TEST(searches_beside_writes_rebuilds_and_compaction_always_find_what_stays) {
  std::mt19937_64 random(seed());
  const std::vector<float> rows = random_units(kStaying + 2000, kDimensions, 100, random);
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = 1000;
  options.costs = &kGraphIsCheap;
  options.build_threads = 2;
  Partition partition(options, kernels());
  CHECK(partition.put(plain_batch(0, kStaying, rows.data(), kDimensions)).ok());

  std::atomic<bool> stop{false};
  std::atomic<std::size_t> searches{0}, wrong{0}, refused{0};
  std::vector<std::thread> searchers;
  for (unsigned thread = 0; thread < 3; ++thread) {
    searchers.emplace_back([&, thread] {
      std::mt19937_64 own(thread);
      while (!stop.load()) {
        const Key key = own() % kStaying;
        const float* query = &rows[key * kDimensions];
        Answer answer;
        // A wide beam: the point here is consistency, recall is tested elsewhere.
        const Query asked{query, 5, 512, {}};
        if (thread == 0) {
          const auto status = partition.try_search(asked, 1e9, answer);
          if (!status) {
            refused.fetch_add(1);
            std::this_thread::yield();
            continue;
          }
        } else if (!partition.search(asked, answer).ok()) {
          wrong.fetch_add(1);
        }
        if (answer.hits.size() != 5 || answer.hits[0].key != key) wrong.fetch_add(1);
        double score = 0;
        if (!partition.scores_of(query, &key, 1, &score).ok() || score < 0.999) wrong.fetch_add(1);
        searches.fetch_add(1);
      }
    });
  }
  for (int round = 0; round < 6; ++round) {
    const float* extra = &rows[kStaying * kDimensions];
    CHECK(partition.put(plain_batch(kStaying, 2000, extra, kDimensions)).ok());
    (void)partition.stats();
    std::vector<Key> gone;
    for (Key key = kStaying; key < kStaying + 2000; ++key) gone.push_back(key);
    std::size_t count = 0;
    CHECK(partition.remove(gone.data(), gone.size(), count).ok() && count == 2000);
    if (round % 2) CHECK(partition.compact(count).ok());
    if (round == 3) partition.settle();
  }
  partition.settle();
  stop.store(true);
  for (std::thread& searcher : searchers) searcher.join();
  std::printf("  %zu searches, %zu refused by try_search\n", searches.load(), refused.load());
  CHECK(searches.load() > 10);
  CHECK_MESSAGE(wrong.load() == 0, std::to_string(wrong.load()) + " wrong answers");
  CHECK(partition.stats().keys == kStaying);
}

ERRATA_TEST(closing_stops_a_build_and_refuses_writers) {
  std::mt19937_64 random(seed());
  const std::vector<float> rows = random_units(20'000, kDimensions, 100, random);
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = 100;
  Partition partition(options, kernels());
  CHECK(partition.put(plain_batch(0, 10'000, rows.data(), kDimensions)).ok());
  std::thread writer([&] {
    for (std::size_t i = 10'000; i < 20'000; ++i) {
      const Status status = partition.put(plain_batch(i, 1, &rows[i * kDimensions], kDimensions));
      if (!status.ok()) {
        CHECK(status.code == Code::kClosed);
        return;
      }
    }
  });
  partition.close();
  writer.join();
  CHECK(!partition.stats().building);
  Answer answer;
  CHECK(partition.search({rows.data(), 1, 0, {}}, answer).ok());
  CHECK(answer.hits.size() == 1);
}
