#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/bitmap.hpp"
#include "common/status.hpp"
#include "index/near_rows.hpp"
#include "index/stop_signal.hpp"
#include "index/vector_store.hpp"
#include "simd/kernels.hpp"

namespace errata {

struct GraphOptions {
  std::size_t connectivity = 16;
  std::size_t ef_construction = 128;
};

struct GraphSearch {
  const float* vector = nullptr;
  const CodeQuery* coded = nullptr;  // needed where the graph lies over codes
  std::size_t wanted = 0;
  std::size_t ef = 0;
  const Bitmap* allowed = nullptr;  // null: all
  /// Comparisons after which the search gives up: what it found then is of no use.
  std::size_t budget = std::numeric_limits<std::size_t>::max();
  /// Comparisons of the same search were every node allowed. Where it is given, the share of allowed nodes
  /// that the search meets tells early that the budget will not do.
  std::size_t unfiltered = 0;
  /// Share of allowed nodes expected before any is met.
  double expected_share = 1;
  const StopSignal* stop = nullptr;

  // Out:
  std::vector<NearRow> found;  // nearest first, scores by the graph's metric
  std::size_t distances = 0;
  std::size_t tested = 0;  // nodes asked of `allowed`, and
  std::size_t passed = 0;  // those let through
  bool gave_up = false;    // over budget, or stopped
};

/// USearch's HNSW over a partition's own rows: node i is slot i. The vectors stay in the stores; the metric
/// compares codes where there are any. Distance is 1 - dot. `add` may run from several threads at once
/// (`update`, `reserve` and searches beside them may not), searches too. Added by one thread, the same
/// insertions give the same graph.
class Graph {
 public:
  /// Threads that may add at once.
  static constexpr std::size_t kBuilders = 8;

  /// `codes` may be null.
  Graph(const RowStore& rows, const CodeStore* codes, const simd::Kernels& kernels, GraphOptions options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::size_t size() const;
  std::size_t capacity() const;
  std::size_t memory_bytes() const;

  /// Makes room for that many nodes.
  Status reserve(std::size_t nodes);
  /// Whether `reserve` would take no more than the copy of a pointer a node, a millisecond at a million.
  bool ready(std::size_t nodes) const;
  /// For the one writer, before it takes the lock: gets memory ready when it will soon be needed, and waits
  /// for it where it is needed now.
  void prepare(std::size_t nodes);
  /// Links the row in the next slot, which must exist; needs room. `builder` numbers the calling thread,
  /// below kBuilders.
  Status add(std::size_t builder);
  /// Links a slot again whose row was replaced. Old links towards it stay until they are pruned: the
  /// partition counts such churn and rebuilds past a ratio.
  Status update(Slot slot);
  Status search(GraphSearch& search) const;

  /// The links as bytes, for a snapshot; `load` reads them back into an empty graph. CORRUPT_RECORD where
  /// they are no graph of `nodes` nodes: every count and link is checked.
  Status save(std::string& bytes) const;
  Status load(const char* bytes, std::size_t size, std::size_t nodes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errata
