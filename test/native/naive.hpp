#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "harness.hpp"
#include "index/partition.hpp"
#include "simd/dispatch.hpp"

namespace errata::test {

/// For tests of the graph on few rows, where the planner would rightly scan.
inline const CostModel kGraphIsCheap{0, 1, 1, 0.001, 0};

/// What a partition holds, as a map and a loop.
struct NaivePartition {
  struct Entry {
    Order order;
    std::map<std::uint8_t, std::vector<float>> rows;
    std::set<Tag> tags;
  };
  std::map<Key, Entry> entries;

  std::vector<Hit> search(const float* query, std::size_t dimensions, std::size_t k,
                          const std::vector<Tag>& tags) const {
    return search_where(query, dimensions, k, [&tags](const Entry& entry) {
      return std::all_of(tags.begin(), tags.end(), [&entry](Tag tag) { return entry.tags.count(tag) != 0; });
    });
  }

  template <typename Allows>
  std::vector<Hit> search_where(const float* query, std::size_t dimensions, std::size_t k,
                                Allows allows) const {
    std::vector<Hit> hits;
    for (const auto& [key, entry] : entries) {
      if (!allows(entry)) continue;
      Hit best{key, -2, 0};
      for (const auto& [kind, row] : entry.rows) {
        const float score = std::clamp(float(kernels().dot_f64(query, row.data(), dimensions)), -1.0f, 1.0f);
        if (score > best.score) best = {key, score, kind};
      }
      hits.push_back(best);
    }
    const auto better = [this](const Hit& a, const Hit& b) {
      if (a.score != b.score) return a.score > b.score;
      const Order &first = entries.at(a.key).order, &second = entries.at(b.key).order;
      return first == second ? a.key < b.key : first < second;
    };
    std::sort(hits.begin(), hits.end(), better);
    if (hits.size() > k) hits.resize(k);
    return hits;
  }
};

/// A batch of keys `[first, first + n)` with one row each and no tags.
inline PutBatch plain_batch(Key first, std::size_t n, const float* vectors, std::size_t dimensions) {
  PutBatch batch;
  batch.row_begin.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    batch.keys.push_back(first + i);
    batch.orders.push_back({first + i, 0});
    batch.kinds.push_back(0);
    batch.row_begin.push_back(static_cast<std::uint32_t>(i + 1));
  }
  batch.vectors.assign(vectors, vectors + n * dimensions);
  batch.tag_begin.assign(n + 1, 0);
  return batch;
}

inline bool same(const std::vector<Hit>& a, const std::vector<Hit>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Hit& x, const Hit& y) {
    return x.key == y.key && x.score == y.score && x.kind == y.kind;
  });
}

}  // namespace errata::test
