#include "index/graph.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <usearch/index.hpp>

#include "index/arena.hpp"
#include "index/graph_links.hpp"
#include "index/graph_walk.hpp"

namespace errata {
namespace {

namespace us = unum::usearch;

using Hnsw = us::index_gt<float, std::uint32_t, std::uint32_t, NothrowAllocator<char>, ArenaAllocator>;

/// What the metric takes for a node where there is no more than its number.
struct SlotOnly {
  Slot slot;
};
Slot get_slot(const SlotOnly& node) {
  return node.slot;
}

/// A row or a query, as the metric takes it.
struct Point {
  const float* vector = nullptr;
  const CodeQuery* coded = nullptr;
};

/// USearch asks for query to node, and node to node; nodes come as iterators or references with a slot.
struct Metric {
  const RowStore* rows;
  const CodeStore* codes;
  const simd::Kernels* kernels;

  template <typename Member>
  float operator()(const Point& point, const Member& member) const {
    const Slot slot = static_cast<Slot>(get_slot(member));
    if (codes == nullptr) return 1.0f - kernels->dot_f32(point.vector, rows->row(slot), rows->dimensions());
    const CodeQuery& query = *point.coded;
    const std::int32_t dot =
        kernels->dot_i8(codes->row(slot), query.codes.data(), query.sum, codes->stride());
    return 1.0f - static_cast<float>(dot) * (codes->meta(slot).scale * query.scale);
  }
  template <typename First, typename Second>
  float operator()(const First& first, const Second& second) const {
    const Slot a = static_cast<Slot>(get_slot(first)), b = static_cast<Slot>(get_slot(second));
    if (codes == nullptr) return 1.0f - kernels->dot_f32(rows->row(a), rows->row(b), rows->dimensions());
    const CodeMeta &from = codes->meta(a), &to = codes->meta(b);
    const std::int32_t dot = kernels->dot_codes(codes->row(a), from.sum, codes->row(b), codes->stride());
    return 1.0f - static_cast<float>(dot) * (to.scale * from.scale);
  }
};

/// Past its budget every distance is nearer than any true one: `ef` of them fill USearch's list of results,
/// and with the nearest candidates in hand it stops.
constexpr float kGaveUp = -1e6f;
constexpr std::size_t kStopDistances = 256;

void count(GraphSearch& search) {
  const std::size_t count = ++search.distances;
  if (count > search.budget) search.gave_up = true;
  if (search.stop != nullptr && count % kStopDistances == 0 && search.stop->stopped()) search.gave_up = true;
}

struct CountingMetric {
  Metric metric;
  GraphSearch* search;

  template <typename First, typename Second>
  float operator()(const First& first, const Second& second) const {
    count(*search);
    return search->gave_up ? kGaveUp : metric(first, second);
  }
};

/// A neighbour's row is fetched while the ones before it are compared.
struct Prefetch {
  const RowStore* rows;
  const CodeStore* codes;

  template <typename Iterator>
  void operator()(Iterator begin, Iterator end) const {
    // Of float32 rows the first four lines (best at 384 dimensions; the hardware streams the rest), of codes
    // all.
    for (; begin != end; ++begin) (*this)(static_cast<Slot>(get_slot(begin)));
  }
  void operator()(Slot slot) const {
    if (codes == nullptr) {
      prefetch(rows->row(slot), std::min<std::size_t>(256, rows->stride() * sizeof(float)));
    } else {
      prefetch(codes->row(slot), codes->stride());
      prefetch(&codes->meta(slot), 1);
    }
  }
};

// Nodes met before their share of allowed ones is believed, and the weight of what was expected.
constexpr std::size_t kShareSample = 128;
constexpr double kExpectedWeight = 32;

struct AllowSlot {
  GraphSearch* search;

  template <typename Member>
  bool operator()(const Member& member) const {
    if (search->gave_up) return true;
    const bool passed = search->allowed->test(member.slot);
    search->passed += passed;
    if (++search->tested % kShareSample == 0 && search->unfiltered != 0) {
      const double share = (static_cast<double>(search->passed) + kExpectedWeight * search->expected_share) /
                           (static_cast<double>(search->tested) + kExpectedWeight);
      search->gave_up = static_cast<double>(search->unfiltered) > share * static_cast<double>(search->budget);
    }
    return passed || search->gave_up;
  }
};

/// A graph's links for a walk, which nobody changes meanwhile.
struct Links {
  const Hnsw& hnsw;

  template <typename Take>
  void each(Slot slot, std::size_t level, Take take) const {
    const auto neighbors = hnsw.neighbors(slot, level);
    for (auto at = neighbors.begin(), end = neighbors.end(); at != end; ++at)
      take(static_cast<Slot>(at.slot()));
  }
  void fetch(Slot slot) const { prefetch(hnsw.at(slot).key.ptr(), kNodeBytes); }

 private:
  // Of a node the head and, with the usual 16 links a level, all of the lowest level.
  static constexpr std::size_t kNodeBytes = 138;
};

/// Rows for a walk, compared with a query.
struct ComparedRows {
  Metric metric;
  Prefetch prefetch;
  Point point;
  GraphSearch& search;

  float distance(Slot slot) const {
    count(search);
    return metric(point, SlotOnly{slot});
  }
  void fetch(Slot slot) const { prefetch(slot); }
  bool stopped() const { return search.gave_up; }
};

// Searches at once in one graph; more wait.
constexpr std::size_t kContexts = 16;
// Nodes that a walk takes along from each level above the lowest: one alone is sometimes in the wrong
// cluster.
constexpr std::size_t kUpperBeam = 4;

// Room for so few nodes more is there in 0.1 ms.
constexpr std::size_t kFewNodes = std::size_t{1} << 15;
// Memory for more nodes is got ready while this share of them is still to come.
constexpr std::size_t kAheadShare = 64;

/// Grown by a quarter: doubling costs 8 bytes for each node that never comes, and moves them all the same.
std::size_t grown(std::size_t capacity, std::size_t nodes) {
  return std::max<std::size_t>({1024, nodes, capacity / 4 * 5});
}

Status out_of_memory() {
  return Status::fail(Code::kOutOfMemory, "Expected memory for the graph, received none");
}

}  // namespace

struct Graph::Impl {
  const RowStore& rows;
  const CodeStore* codes;
  Metric metric;
  Prefetch prefetch;
  GraphOptions options;
  std::shared_ptr<Arena> arena;
  Hnsw hnsw;
  AheadMemory ahead{false};
  CodeQuery builders[kBuilders];

  // USearch keeps its search buffers by thread number: a search borrows a number.
  mutable std::mutex mutex;
  mutable std::condition_variable returned;
  mutable std::vector<std::size_t> free_contexts;
  mutable WalkBuffers walks[kContexts];

  // Where walks begin: a node of the highest level, and that level and one above it (0: there is no node
  // yet).
  std::atomic<std::uint64_t> entry{0};

  Impl(const RowStore& row_store, const CodeStore* code_store, const simd::Kernels& kernels,
       GraphOptions wanted, ArenaAllocator tape)
      : rows(row_store),
        codes(code_store),
        metric{&row_store, code_store, &kernels},
        prefetch{&row_store, code_store},
        options(wanted),
        arena(tape.arena),
        hnsw(us::index_config_t(wanted.connectivity, wanted.connectivity * 2), {}, tape) {
    for (std::size_t i = kContexts; i > 0; --i) free_contexts.push_back(i - 1);
  }

  Point point(Slot slot, std::size_t builder) {
    if (codes != nullptr) codes->load_query(slot, builders[builder]);
    return {rows.row(slot), &builders[builder]};
  }
  void offer_entry(Slot slot) {
    const std::uint64_t offered = std::uint64_t{hnsw.level_of(slot) + 1} << 32 | slot;
    std::uint64_t present = entry.load();
    while (offered >> 32 > present >> 32 && !entry.compare_exchange_weak(present, offered)) {
    }
  }
  void walk(GraphSearch& search, std::size_t context) const;
  bool search_allowed(GraphSearch& search, std::size_t context) const;
  std::size_t borrow() const {
    std::unique_lock<std::mutex> guard(mutex);
    returned.wait(guard, [this] { return !free_contexts.empty(); });
    const std::size_t context = free_contexts.back();
    free_contexts.pop_back();
    return context;
  }
  void give_back(std::size_t context) const {
    {
      std::lock_guard<std::mutex> guard(mutex);
      free_contexts.push_back(context);
    }
    returned.notify_one();
  }
};

/// Without a filter: level by level, from the nearest few of the one above.
void Graph::Impl::walk(GraphSearch& search, std::size_t context) const {
  WalkBuffers& buffers = walks[context];
  std::vector<WalkNode>& beam = buffers.beam;
  ComparedRows compared{metric, prefetch, {search.vector, search.coded}, search};
  const Links links{hnsw};
  const std::uint64_t first = entry.load();
  const Slot slot = static_cast<Slot>(first);
  beam.assign(1, {compared.distance(slot), slot, false});
  for (std::size_t level = (first >> 32) - 1; level > 0; --level)
    walk_level(links, compared, level, kUpperBeam, buffers);
  walk_level(links, compared, 0, std::max(search.ef, search.wanted), buffers);
  buffers.shrink();
  if (search.gave_up) return;
  beam.resize(std::min(beam.size(), search.wanted));
  search.found.reserve(beam.size());
  for (const WalkNode& node : beam) search.found.push_back({1.0f - node.distance, node.slot});
}

/// False where memory ran out.
bool Graph::Impl::search_allowed(GraphSearch& search, std::size_t context) const {
  us::index_search_config_t config;
  config.expansion = search.ef;
  config.thread = context;
  auto result = hnsw.search(Point{search.vector, search.coded}, search.wanted,
                            CountingMetric{metric, &search}, config, AllowSlot{&search}, prefetch);
  if (!result) {
    result.error.release();
    return false;
  }
  if (search.gave_up) return true;
  search.found.reserve(result.count);
  for (std::size_t i = 0; i < result.count; ++i)
    search.found.push_back({1.0f - result[i].distance, static_cast<Slot>(result[i].member.slot)});
  return true;
}

Graph::Graph(const RowStore& rows, const CodeStore* codes, const simd::Kernels& kernels, GraphOptions options)
    : impl_(std::make_unique<Impl>(rows, codes, kernels, options, ArenaAllocator{})) {}

Graph::~Graph() = default;

std::size_t Graph::size() const {
  return impl_->hnsw.size();
}

std::size_t Graph::capacity() const {
  return impl_->hnsw.capacity();
}

std::size_t Graph::memory_bytes() const {
  return impl_->hnsw.tape_allocator().arena->memory_bytes() + capacity() * sizeof(void*) +
         impl_->ahead.bytes();
}

Status Graph::reserve(std::size_t nodes) {
  Hnsw& hnsw = impl_->hnsw;
  if (nodes <= hnsw.capacity()) return {};
  const std::size_t prepared = impl_->ahead.bytes() / sizeof(void*);
  const std::size_t members = prepared >= nodes ? prepared : grown(hnsw.capacity(), nodes);
  const OfferedMemory offered(impl_->ahead.take(), members * sizeof(void*));
  return hnsw.try_reserve(us::index_limits_t(members, kContexts)) ? Status{} : out_of_memory();
}

bool Graph::ready(std::size_t nodes) const {
  return nodes <= capacity() || nodes < kFewNodes || impl_->ahead.ready();
}

void Graph::prepare(std::size_t nodes) {
  if (nodes < kFewNodes || nodes + nodes / kAheadShare <= capacity()) return;
  impl_->ahead.prepare(grown(capacity(), nodes) * sizeof(void*));
  if (nodes > capacity()) impl_->ahead.wait();
}

Status Graph::add(std::size_t builder) {
  us::index_update_config_t config;
  config.expansion = impl_->options.ef_construction;
  config.thread = builder;
  // USearch gives out the slot itself; the row is looked up once it is known, before the first comparison.
  Point point;
  const auto on_slot = [this, builder, &point](const auto& member) {
    point = impl_->point(static_cast<Slot>(member.slot), builder);
  };
  auto result = impl_->hnsw.add(0, point, impl_->metric, config, on_slot, impl_->prefetch);
  if (!result) {
    result.error.release();
    return out_of_memory();
  }
  impl_->offer_entry(static_cast<Slot>(result.slot));
  return {};
}

Status Graph::update(Slot slot) {
  us::index_update_config_t config;
  config.expansion = impl_->options.ef_construction;
  const Point point = impl_->point(slot, 0);
  auto result = impl_->hnsw.update(impl_->hnsw.iterator_at(slot), 0, point, impl_->metric, config,
                                   us::dummy_callback_t{}, impl_->prefetch);
  if (!result) {
    result.error.release();
    return out_of_memory();
  }
  return {};
}

Status Graph::search(GraphSearch& search) const {
  search.found.clear();
  search.distances = search.tested = search.passed = 0;
  search.gave_up = false;
  if (size() == 0 || search.wanted == 0) return {};
  const std::size_t context = impl_->borrow();
  bool failed = false;
  try {
    if (search.allowed == nullptr) {
      impl_->walk(search, context);
    } else {
      failed = !impl_->search_allowed(search, context);
    }
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  impl_->give_back(context);
  return failed ? out_of_memory() : Status{};
}

Status Graph::save(std::string& bytes) const {
  bytes.clear();
  bytes.reserve(impl_->hnsw.serialized_length());
  auto result = impl_->hnsw.save_to_stream([&bytes](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return true;
  });
  if (result) return {};
  result.error.release();
  return out_of_memory();
}

Status Graph::load(const char* bytes, std::size_t size, std::size_t nodes) {
  const Status status = check_links(bytes, size, nodes, impl_->options);
  if (!status.ok()) return status;
  if (!impl_->hnsw.try_reserve(us::index_limits_t(nodes, kContexts))) return out_of_memory();
  const char* at = bytes;
  auto result = impl_->hnsw.load_from_stream([&at](void* data, std::size_t wanted) {
    if (data == nullptr) return false;  // out of memory
    std::memcpy(data, at, wanted);
    at += wanted;
    return true;
  });
  if (result) {
    us::index_serialized_header_t header;
    std::memcpy(&header, bytes, sizeof(header));
    impl_->offer_entry(static_cast<Slot>(header.entry_slot));
    return {};
  }
  result.error.release();
  return out_of_memory();
}

}  // namespace errata
