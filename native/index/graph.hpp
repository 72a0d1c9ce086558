#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "common/bitmap.hpp"
#include "common/status.hpp"
#include "index/row_store.hpp"
#include "simd/kernels.hpp"

namespace errata {

struct GraphOptions {
  std::size_t connectivity = 16;
  std::size_t ef_construction = 128;
};

/// USearch's HNSW over a partition's own rows: node i is slot i, the vectors stay in the RowStore. Distance
/// is 1 - dot. Levels come from a fixed seed, so the same insertions give the same graph. `add_next` and
/// `update` need exclusive access; `search` may run from several threads at once.
class Graph {
 public:
  Graph(const RowStore& rows, const simd::Kernels& kernels, GraphOptions options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::size_t size() const;
  std::size_t memory_bytes() const;

  /// Links the row in slot `size()`.
  Status add_next();
  /// Links a slot again whose row was replaced. Old links towards it stay until they are pruned: the
  /// partition counts such churn and rebuilds past a ratio.
  Status update(Slot slot);

  /// Up to `wanted` slots, nearest first, among those of `allowed` (null: all). `ef` is the beam width.
  Status search(const float* query, std::size_t wanted, std::size_t ef, const Bitmap* allowed,
                std::vector<Slot>& found) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errata
