#include "index/graph.hpp"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>
#include <usearch/index.hpp>

namespace errata {
namespace {

namespace us = unum::usearch;

/// USearch checks allocations for null; `std::allocator` would throw through its noexcept functions instead.
template <typename Element>
struct NothrowAllocator {
  using value_type = Element;
  template <typename Other>
  struct rebind {
    using other = NothrowAllocator<Other>;
  };
  NothrowAllocator() = default;
  template <typename Other>
  NothrowAllocator(const NothrowAllocator<Other>&) {}

  Element* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(Element)) return nullptr;
    return static_cast<Element*>(
        ::operator new(count * sizeof(Element), std::align_val_t(alignof(Element)), std::nothrow));
  }
  void deallocate(Element* data, std::size_t) noexcept {
    ::operator delete(data, std::align_val_t(alignof(Element)));
  }
  template <typename Other>
  bool operator==(const NothrowAllocator<Other>&) const {
    return true;
  }
  template <typename Other>
  bool operator!=(const NothrowAllocator<Other>&) const {
    return false;
  }
};

using Hnsw = us::index_gt<float, std::uint64_t, std::uint32_t, NothrowAllocator<char>>;

/// USearch asks for query to node, and node to node; nodes come as iterators or references with a slot.
struct Metric {
  const RowStore* rows;
  const simd::Kernels* kernels;

  template <typename Member>
  float operator()(const float* query, const Member& member) const {
    return 1.0f - kernels->dot_f32(query, rows->row(static_cast<Slot>(get_slot(member))), rows->dimensions());
  }
  template <typename First, typename Second>
  float operator()(const First& first, const Second& second) const {
    return (*this)(rows->row(static_cast<Slot>(get_slot(first))), second);
  }
};

/// A neighbour's row is fetched while the one before it is compared.
struct Prefetch {
  const RowStore* rows;

  template <typename Iterator>
  void operator()(Iterator begin, Iterator end) const {
#if defined(__GNUC__) || defined(__clang__)
    // The first lines of each row; the hardware streams the rest. Four measured best at 384 dimensions.
    for (; begin != end; ++begin) {
      const float* row = rows->row(static_cast<Slot>(get_slot(begin)));
      for (std::size_t line = 0; line < 4 && line * 16 < rows->stride(); ++line) {
        __builtin_prefetch(row + line * 16);
      }
    }
#else
    (void)begin;
    (void)end;
#endif
  }
};

struct AllowSlot {
  const Bitmap* allowed;

  template <typename Member>
  bool operator()(const Member& member) const {
    return allowed->test(member.slot);
  }
};

// Searches at once in one graph; more wait. libuv runs four workers unless told otherwise.
constexpr std::size_t kContexts = 16;

Status out_of_memory() {
  return Status::fail(Code::kOutOfMemory, "Expected memory for the graph, received none");
}

}  // namespace

struct Graph::Impl {
  const RowStore& rows;
  Metric metric;
  Prefetch prefetch;
  GraphOptions options;
  Hnsw hnsw;

  // USearch keeps its search buffers by thread number: a search borrows a number.
  mutable std::mutex mutex;
  mutable std::condition_variable returned;
  mutable std::vector<std::size_t> free_contexts;

  Impl(const RowStore& store, const simd::Kernels& kernels, GraphOptions wanted)
      : rows(store),
        metric{&store, &kernels},
        prefetch{&store},
        options(wanted),
        hnsw(us::index_config_t(wanted.connectivity, wanted.connectivity * 2)) {
    for (std::size_t i = kContexts; i > 0; --i) free_contexts.push_back(i - 1);
  }

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

Graph::Graph(const RowStore& rows, const simd::Kernels& kernels, GraphOptions options)
    : impl_(std::make_unique<Impl>(rows, kernels, options)) {}

Graph::~Graph() = default;

std::size_t Graph::size() const {
  return impl_->hnsw.size();
}

std::size_t Graph::memory_bytes() const {
  return impl_->hnsw.memory_usage(0);
}

Status Graph::add_next() {
  Hnsw& hnsw = impl_->hnsw;
  const std::size_t slot = hnsw.size();
  if (slot >= hnsw.capacity()) {
    const std::size_t members = std::max<std::size_t>(1024, hnsw.capacity() * 2);
    if (!hnsw.try_reserve(us::index_limits_t(members, kContexts))) return out_of_memory();
  }
  us::index_update_config_t config;
  config.expansion = impl_->options.ef_construction;
  const float* row = impl_->rows.row(static_cast<Slot>(slot));
  auto result = hnsw.add(slot, row, impl_->metric, config, us::dummy_callback_t{}, impl_->prefetch);
  if (!result) {
    result.error.release();
    return out_of_memory();
  }
  return {};
}

Status Graph::update(Slot slot) {
  us::index_update_config_t config;
  config.expansion = impl_->options.ef_construction;
  const float* row = impl_->rows.row(slot);
  auto result = impl_->hnsw.update(impl_->hnsw.iterator_at(slot), slot, row, impl_->metric, config,
                                   us::dummy_callback_t{}, impl_->prefetch);
  if (!result) {
    result.error.release();
    return out_of_memory();
  }
  return {};
}

Status Graph::search(const float* query, std::size_t wanted, std::size_t ef, const Bitmap* allowed,
                     std::vector<Slot>& found) const {
  found.clear();
  if (size() == 0 || wanted == 0) return {};
  us::index_search_config_t config;
  config.expansion = ef;
  config.thread = impl_->borrow();
  // An ordinary filter costs a test a node; none at all takes USearch's shorter path.
  auto result =
      allowed == nullptr
          ? impl_->hnsw.search(query, wanted, impl_->metric, config, us::dummy_predicate_t{}, impl_->prefetch)
          : impl_->hnsw.search(query, wanted, impl_->metric, config, AllowSlot{allowed}, impl_->prefetch);
  const bool failed = !result;
  if (failed) {
    result.error.release();
  } else {
    found.reserve(result.count);
    for (std::size_t i = 0; i < result.count; ++i) found.push_back(static_cast<Slot>(result[i].member.slot));
  }
  impl_->give_back(config.thread);
  return failed ? out_of_memory() : Status{};
}

}  // namespace errata
