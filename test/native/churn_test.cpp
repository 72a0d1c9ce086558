#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

// Adds, removes, re-adds and searches in random order beside parallel searches, against a model that is an
// array and a loop. ERRATA_CHURN sets the number of operations: 1,000,000 for `node scripts/native-tests.mjs
// --churn`, few enough by default to take seconds. The loop and the parallel searches would take most of the
// time: long runs compare every eighth search with the loop, and every second operation is met by a parallel
// search.

namespace {

constexpr std::size_t kDimensions = 12;
constexpr std::size_t kKeys = 3000;
constexpr std::size_t kStepsASearch = 2;
constexpr std::size_t kStaying = 50;  // keys that no one removes: the parallel searches look for them

std::size_t operations() {
  const char* given = std::getenv("ERRATA_CHURN");
  return given ? std::strtoull(given, nullptr, 10) : kSlow ? 3000 : 20'000;
}

struct ModelKey {
  bool held = false;
  std::vector<float> rows;  // [kinds of `mask`, kDimensions]
  unsigned mask = 0;        // bit 0: lesson, bit 1: situation
  std::vector<Tag> tags;
};

class ChurnRun {
 public:
  /// Every `compared`-th search is compared with the model.
  ChurnRun(Partition& partition, std::size_t compared)
      : partition_(partition),
        compared_(compared),
        random_(seed()),
        keys_(kKeys),
        pool_(random_units(200, kDimensions, 0, random_)) {
    for (Key key = 0; key < kStaying; ++key) {
      put(key, &pool_[key * kDimensions]);
    }
    for (Key key = kStaying; key < kKeys / 4 * 3; ++key) put(key, nullptr);
  }

  const float* staying(Key key) const { return &pool_[key * kDimensions]; }

  /// `growing`: adds outnumber removals.
  void step(bool growing) {
    const unsigned die = random_() % 10;
    Key key = kStaying + random_() % (kKeys - kStaying);
    if (die < 3) {
      search();
    } else if (growing == (die < 8)) {
      put(key, nullptr);
    } else {
      // Mostly a key that is there; sometimes one that is not.
      for (int i = 0; i < 4 && !keys_[key].held; ++i) key = kStaying + random_() % (kKeys - kStaying);
      remove(key);
    }
  }

  void check_every_key() {
    for (Key key = 0; key < kKeys; ++key) {
      double score = 0;
      const ModelKey& model = keys_[key];
      const float* vector = model.held ? model.rows.data() : pool_.data();
      CHECK(partition_.scores_of(vector, &key, 1, &score).ok());
      CHECK(model.held ? score > 0.999 : std::isnan(score));
    }
  }

  std::size_t held() const { return held_; }
  std::size_t adds = 0, re_adds = 0, removes = 0, exact = 0, by_graph = 0, found = 0, wanted = 0;

 private:
  void put(Key key, const float* fixed) {
    ModelKey& model = keys_[key];
    model.held ? ++re_adds : ++adds;
    held_ += !model.held;
    model = {true, {}, fixed ? 1u : 1 + static_cast<unsigned>(random_() % 3), {}};
    PutBatch batch;
    batch.keys = {key};
    batch.orders = {{key % 7, key}};
    for (std::uint8_t kind = 0; kind < kRowKinds; ++kind) {
      if (!((model.mask >> kind) & 1)) continue;
      // A third comes from a small pool: exact ties are frequent.
      const std::vector<float> fresh = random_units(1, kDimensions, 0, random_);
      const float* row = fixed                ? fixed
                         : random_() % 3 == 0 ? &pool_[random_() % 200 * kDimensions]
                                              : fresh.data();
      model.rows.insert(model.rows.end(), row, row + kDimensions);
      batch.kinds.push_back(kind);
    }
    for (Tag tag = 1; tag <= 4; ++tag) {
      if (random_() % (tag * tag) == 0) model.tags.push_back(tag);
    }
    batch.vectors = model.rows;
    batch.tags = model.tags;
    batch.row_begin = {0, static_cast<std::uint32_t>(batch.kinds.size())};
    batch.tag_begin = {0, static_cast<std::uint32_t>(batch.tags.size())};
    CHECK(partition_.put(batch).ok());
  }

  void remove(Key key) {
    std::size_t removed = 0;
    CHECK(partition_.remove(&key, 1, removed).ok());
    CHECK(removed == std::size_t{keys_[key].held});
    held_ -= keys_[key].held;
    ++removes;
    keys_[key] = {};
  }

  std::vector<Hit> expected(const float* query, std::size_t k, const Filter& filter) const {
    std::vector<Hit> hits;
    for (Key key = 0; key < kKeys; ++key) {
      const ModelKey& model = keys_[key];
      if (!model.held || !matches(filter, model.tags)) continue;
      Hit best{key, -2, 0};
      const float* row = model.rows.data();
      for (std::uint8_t kind = 0; kind < kRowKinds; ++kind) {
        if (!((model.mask >> kind) & 1)) continue;
        const float score = std::clamp(float(kernels().dot_f64(query, row, kDimensions)), -1.0f, 1.0f);
        if (score > best.score) best = {key, score, kind};
        row += kDimensions;
      }
      hits.push_back(best);
    }
    std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
      if (a.score != b.score) return a.score > b.score;
      return a.key % 7 != b.key % 7 ? a.key % 7 < b.key % 7 : a.key < b.key;
    });
    if (hits.size() > k) hits.resize(k);
    return hits;
  }

  void search() {
    static const std::vector<Filter> kFilters = {
        {}, {}, {}, {1}, {2}, {4}, {2, 3}, {2, kFilterNot}, {3, 4, kFilterOr, 2, kFilterNot, kFilterAnd}};
    const Filter& filter = kFilters[random_() % kFilters.size()];
    const std::vector<float> fresh = random_units(1, kDimensions, 0, random_);
    const float* query = random_() % 2 ? fresh.data() : &pool_[random_() % 200 * kDimensions];
    const std::size_t k = 1 + random_() % 20;
    Answer answer;
    CHECK(partition_.search({query, k, 0, filter}, answer).ok());
    if (++searches_ % compared_ != 0) return;
    const std::vector<Hit> right = expected(query, k, filter);
    if (answer.exhaustive) {
      ++exact;
      CHECK_MESSAGE(same(answer.hits, right), answer.plan);
      return;
    }
    ++by_graph;
    CHECK_MESSAGE(answer.hits.size() == right.size(), answer.plan);
    const std::vector<Hit> all = expected(query, kKeys, filter);
    for (const Hit& hit : answer.hits) {
      // Whatever the graph brings up is live, allowed, and has its exact score and best row.
      CHECK(std::any_of(all.begin(), all.end(), [&hit](const Hit& one) {
        return one.key == hit.key && one.score == hit.score && one.kind == hit.kind;
      }));
      found += std::any_of(right.begin(), right.end(), [&hit](const Hit& one) { return one.key == hit.key; });
    }
    wanted += right.size();
  }

  Partition& partition_;
  const std::size_t compared_;
  std::size_t searches_ = 0;
  std::mt19937_64 random_;
  std::vector<ModelKey> keys_;
  std::vector<float> pool_;
  std::size_t held_ = 0;
};

}  // namespace

ERRATA_TEST(random_operations_beside_parallel_searches_agree_with_a_naive_model) {
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph = {8, 32};
  options.graph_threshold = 1500;
  options.build_threads = 2;
  options.costs = &kGraphIsCheap;
  Partition partition(options, kernels());
  const std::size_t n = operations(), phase = std::clamp<std::size_t>(n / 6, 1000, 10'000);
  ChurnRun run(partition, n > 100'000 ? 8 : 1);
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable moved;
  std::size_t steps = 0;
  std::atomic<std::size_t> searches{0}, wrong{0}, missed{0};
  std::vector<std::thread> searchers;
  for (unsigned thread = 0; thread < 2; ++thread) {
    searchers.emplace_back([&, thread] {
      std::mt19937_64 own(thread);
      for (std::size_t next = 0; !stop.load(); next += kStepsASearch * 2) {
        {
          // Not a load test: the writer is to come to its turn.
          std::unique_lock<std::mutex> guard(mutex);
          moved.wait(guard, [&] { return steps >= next || stop.load(); });
        }
        const Key key = own() % kStaying;
        Answer answer;
        Query query{run.staying(key), 1 + own() % 5, 64, {}};
        if (thread == 1 && own() % 2)
          query.filter = {1, 2, kFilterOr, 1, kFilterNot, kFilterOr};  // everything
        const bool ok = partition.search(query, answer).ok();
        if (!ok || answer.hits.empty()) wrong.fetch_add(1);
        // Others may hold the very same vector; the best score is this one's either way. A graph may lose
        // sight of a row until its next audit, a scan may not.
        if (!answer.hits.empty() && answer.hits[0].score < 0.99999f)
          (answer.exhaustive ? wrong : missed).fetch_add(1);
        for (std::size_t i = 1; i < answer.hits.size(); ++i) {
          if (answer.hits[i].score > answer.hits[i - 1].score) wrong.fetch_add(1);
          if (answer.hits[i].key == answer.hits[i - 1].key) wrong.fetch_add(1);
        }
        searches.fetch_add(1);
      }
    });
  }
  std::size_t graphs = 0, least = kKeys, most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    run.step(i / phase % 2 == 0);
    {
      std::lock_guard<std::mutex> guard(mutex);
      steps = i;
    }
    moved.notify_all();
    least = std::min(least, i < phase ? kKeys : run.held());
    most = std::max(most, run.held());
    if (i % 1000 == 999) graphs += partition.stats().has_graph;
  }
  partition.settle();
  {
    std::lock_guard<std::mutex> guard(mutex);
    stop.store(true);
  }
  moved.notify_all();
  for (std::thread& searcher : searchers) searcher.join();
  // What a graph lost sight of meanwhile, an audit finds: from then on every staying key finds itself.
  AuditReport report;
  CHECK(partition.audit(report).ok());
  for (Key key = 0; key < kStaying; ++key) {
    Answer answer;
    CHECK(partition.search({run.staying(key), 1, 64, {}}, answer).ok());
    CHECK(!answer.hits.empty() && answer.hits[0].score >= 0.99999f);
  }
  run.check_every_key();
  const PartitionStats stats = partition.stats();
  const double recall = run.wanted ? double(run.found) / double(run.wanted) : 1;
  std::printf(
      "  %zu adds, %zu re-adds, %zu removes; %zu to %zu keys; %zu exact and %zu graph answers, recall %.4f\n",
      run.adds, run.re_adds, run.removes, least, most, run.exact, run.by_graph, recall);
  std::printf("  %zu parallel searches; %zu compactions, %zu audits, %zu rows linked anew, %zu kept aside\n",
              searches.load(), stats.compactions, stats.audits, stats.repairs, stats.kept_aside);
  CHECK(stats.keys == run.held());
  CHECK(searches.load() > 0);
  CHECK_MESSAGE(wrong.load() == 0, std::to_string(wrong.load()) + " wrong");
  CHECK_MESSAGE(double(missed.load()) <= 0.005 * double(searches.load()) + 1,
                std::to_string(missed.load()) + " rows did not find themselves");
  CHECK(recall > 0.95);
  if (n >= 20'000) CHECK(run.by_graph > 100 && graphs > 0 && stats.compactions > 0);
}
