#include <atomic>
#include <thread>

#include "harness.hpp"
#include "index/scan_pool.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

namespace {

constexpr std::size_t kDimensions = 64;

}  // namespace

ERRATA_TEST(every_part_of_a_shared_job_runs_once_for_many_callers_at_once) {
  std::vector<std::thread> callers;
  std::atomic<std::size_t> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&wrong] {
      for (std::size_t parts = 0; parts < 60; ++parts) {
        std::vector<std::atomic<int>> runs(parts);
        ScanPool::shared().run(parts, [&runs](std::size_t part) { runs[part].fetch_add(1); });
        for (const std::atomic<int>& run : runs) wrong.fetch_add(run.load() != 1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong.load() == 0);
}

ERRATA_TEST(scans_on_several_threads_give_the_answers_of_one_ties_included) {
  std::mt19937_64 random(seed());
  const std::size_t n = kSlow ? 6000 : 20'000, queries = 12;
  std::vector<float> rows = random_units(n, kDimensions, 50, random);
  // A tenth are copies of others: ties cross the borders between the threads' parts.
  for (std::size_t i = 0; i < n / 10; ++i) {
    std::copy_n(&rows[i * kDimensions], kDimensions, &rows[(n - 1 - i * 7 % n) * kDimensions]);
  }
  const CostModel dear{0, 5, 5, 5, 0};  // so that even these few rows are worth sharing
  std::vector<std::vector<Answer>> answers;
  for (const std::size_t threads : {1u, 2u, 0u}) {
    PartitionOptions options;
    options.dimensions = kDimensions;
    options.graph_threshold = n + 1;
    options.costs = &dear;
    options.scan_threads = threads;
    Partition partition(options, kernels());
    CHECK(partition.put(plain_batch(0, n, rows.data(), kDimensions)).ok());
    std::vector<Answer> found;
    Query shared;
    shared.k = 50;
    CHECK(partition.search_batch(rows.data(), queries, shared, found).ok());
    for (std::size_t q = 0; q < queries; ++q) {
      Answer single;
      shared.vector = &rows[q * kDimensions];
      CHECK(partition.search(shared, single).ok());
      const bool shares = threads != 1 && ScanPool::shared().threads() > 1;
      CHECK_MESSAGE((single.report.threads > 1) == shares, std::to_string(single.report.threads));
      CHECK(same(single.hits, found[q].hits));
    }
    answers.push_back(found);
  }
  for (std::size_t q = 0; q < queries; ++q) {
    CHECK(same(answers[0][q].hits, answers[1][q].hits) && same(answers[0][q].hits, answers[2][q].hits));
  }
}

ERRATA_TEST(a_signal_or_a_deadline_ends_scan_batch_and_graph_with_their_codes) {
  std::mt19937_64 random(seed());
  const std::size_t n = 4000;
  const std::vector<float> rows = random_units(n, kDimensions, 50, random);
  const CostModel scan_is_cheap{0, 0.001, 0.001, 1, 0}, dear{0, 5, 5, 100, 0};
  for (const CostModel* costs : {&scan_is_cheap, &dear, &kGraphIsCheap}) {
    PartitionOptions options;
    options.dimensions = kDimensions;
    options.graph_threshold = n;
    options.costs = costs;
    options.scan_threads = 0;
    Partition partition(options, kernels());
    CHECK(partition.put(plain_batch(0, n, rows.data(), kDimensions)).ok());
    partition.settle();
    StopSignal cancelled, late, never;
    cancelled.cancel();
    late.set_deadline(StopSignal::Clock::now());
    never.set_deadline(StopSignal::Clock::now() + std::chrono::hours(1));
    const auto code = [&](const StopSignal& stop, bool batch) {
      Query query{rows.data(), 10, 0, {}, &stop};
      Answer answer;
      std::vector<Answer> found;
      return batch ? partition.search_batch(rows.data(), 3, query, found).code
                   : partition.search(query, answer).code;
    };
    for (const bool batch : {false, true}) {
      CHECK(code(cancelled, batch) == Code::kAborted);
      CHECK(code(late, batch) == Code::kDeadline);
      CHECK(code(never, batch) == Code::kOk);
    }
  }
}
