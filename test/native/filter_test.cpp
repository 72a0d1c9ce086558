#include <functional>

#include "harness.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

namespace {

constexpr std::size_t kDimensions = 16;
using Tags = std::set<Tag>;

/// An expression as the addon takes it and as a plain function.
struct Expression {
  Filter filter;
  std::function<bool(const Tags&)> holds;
};

Expression random_expression(unsigned depth, std::mt19937_64& random) {
  const unsigned die = depth == 0 ? 0 : random() % 8;
  if (die < 3) {
    const Tag tag = random() % 20 == 0 ? kFilterNone : static_cast<Tag>(1 + random() % 9);
    return {{tag}, [tag](const Tags& tags) { return tags.count(tag) != 0; }};
  }
  Expression left = random_expression(depth - 1, random);
  if (die == 3) {
    left.filter.push_back(kFilterNot);
    return {left.filter, [f = left.holds](const Tags& tags) { return !f(tags); }};
  }
  const Expression right = random_expression(depth - 1, random);
  left.filter.insert(left.filter.end(), right.filter.begin(), right.filter.end());
  const bool both = die < 6;
  left.filter.push_back(both ? kFilterAnd : kFilterOr);
  return {left.filter, [both, f = left.holds, g = right.holds](const Tags& tags) {
            return both ? f(tags) && g(tags) : f(tags) || g(tags);
          }};
}

}  // namespace

ERRATA_TEST(filters_of_and_or_not_stay_current_in_the_cache_through_every_write) {
  std::mt19937_64 random(seed());
  PartitionOptions options;
  options.dimensions = kDimensions;
  options.graph_threshold = 1'000'000;
  Partition partition(options, kernels());
  NaivePartition model;
  std::vector<Expression> expressions;
  for (int i = 0; i < 40; ++i) expressions.push_back(random_expression(4, random));
  // Tag 9 is on most rows, so that sets are both lists and bitmaps.
  for (int step = 0; step < 1500; ++step) {
    const Key key = random() % 2500;
    const unsigned die = random() % 8;
    if (die == 0) {
      std::size_t removed = 0;
      CHECK(partition.remove(&key, 1, removed).ok());
      CHECK(removed == model.entries.erase(key));
    } else if (die < 5) {
      PutBatch batch;
      batch.row_begin = {0};
      batch.tag_begin = {0};
      for (std::size_t i = 0; i < 6; ++i) {
        const Key put = (key + i) % 2500;
        NaivePartition::Entry entry;
        entry.order = {put, 0};
        for (Tag tag = 1; tag <= 9; ++tag) {
          if (tag == 9 ? random() % 10 != 0 : random() % (tag + 1) == 0) entry.tags.insert(tag);
        }
        for (std::uint8_t kind = 0; kind < 2; ++kind) {
          if (kind == 1 && random() % 2) continue;
          entry.rows[kind] = random_units(1, kDimensions, 0, random);
          batch.vectors.insert(batch.vectors.end(), entry.rows[kind].begin(), entry.rows[kind].end());
          batch.kinds.push_back(kind);
        }
        batch.keys.push_back(put);
        batch.orders.push_back(entry.order);
        batch.tags.insert(batch.tags.end(), entry.tags.begin(), entry.tags.end());
        batch.row_begin.push_back(static_cast<std::uint32_t>(batch.kinds.size()));
        batch.tag_begin.push_back(static_cast<std::uint32_t>(batch.tags.size()));
        model.entries[put] = entry;
      }
      CHECK(partition.put(batch).ok());
    } else {
      const Expression& asked = expressions[random() % expressions.size()];
      const std::vector<float> vector = random_units(1, kDimensions, 0, random);
      const std::size_t k = 1 + random() % 40;
      Answer answer;
      CHECK(partition.search({vector.data(), k, 0, asked.filter}, answer).ok());
      const auto expected = model.search_where(
          vector.data(), kDimensions, k,
          [&asked](const NaivePartition::Entry& entry) { return asked.holds(entry.tags); });
      CHECK_MESSAGE(same(answer.hits, expected), answer.plan + " at step " + std::to_string(step));
    }
    if (step % 400 == 399) {
      std::size_t freed = 0;
      CHECK(partition.compact(freed).ok());
    }
  }
  const PartitionStats stats = partition.stats();
  std::printf("  %zu filters cached, %zu hits, %zu misses\n", stats.cached_filters, stats.filter_hits,
              stats.filter_misses);
  CHECK(stats.filter_hits > 10 * stats.filter_misses / 2);
  CHECK(stats.cached_filters <= 40);
}

ERRATA_TEST(the_filter_cache_is_bounded_and_forgets_the_least_recently_used) {
  FilterCache cache;
  for (Tag tag = 0; tag < 200; ++tag) {
    (void)cache.insert({tag, tag + 1}, {});
    CHECK(cache.find({0, 1}) != nullptr);
  }
  CHECK(cache.size() == FilterCache::kLargest);
  CHECK(cache.find({198, 199}) != nullptr && cache.find({50, 51}) == nullptr);
}

ERRATA_TEST(a_filter_that_makes_no_sense_is_refused) {
  PartitionOptions options;
  options.dimensions = kDimensions;
  Partition partition(options, kernels());
  std::mt19937_64 random(seed());
  const std::vector<float> row = random_units(1, kDimensions, 0, random);
  CHECK(partition.put(plain_batch(1, 1, row.data(), kDimensions)).ok());
  Answer answer;
  const auto code = [&](const Filter& filter) {
    return partition.search({row.data(), 1, 0, filter}, answer).code;
  };
  CHECK(code({kFilterNot}) == Code::kInvalidInput);
  CHECK(code({1, kFilterAnd}) == Code::kInvalidInput);
  CHECK(code({1, kFilterOr, 2}) == Code::kInvalidInput);
  CHECK(code(Filter(5000, 1)) == Code::kInvalidInput);
  Filter deep(100, 1);
  deep.push_back(kFilterNot);
  CHECK(code(deep) == Code::kInvalidInput);
  CHECK(code(Filter(1000, 1)) == Code::kOk && answer.hits.empty());
  CHECK(code({1, kFilterNot}) == Code::kOk && answer.hits.size() == 1);
  CHECK(code({kFilterNone, kFilterNot}) == Code::kOk && answer.hits.size() == 1);
  CHECK(code({kFilterNone}) == Code::kOk && answer.plan == "empty");
  PutBatch batch = plain_batch(2, 1, row.data(), kDimensions);
  batch.tags = {kFilterOr};
  batch.tag_begin = {0, 1};
  CHECK(partition.put(batch).code == Code::kInvalidInput);
}
