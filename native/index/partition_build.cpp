#include <algorithm>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "index/partition.hpp"

// The background build of a partition's graph. It reads rows under the shared lock, one insertion at a time,
// so that searches go on and writers wait for at most one insertion a thread; then it swaps the graph in
// under the exclusive lock.

namespace errata {
namespace {

// What the builder may still link while everyone waits, at the moment of the swap: about 2 ms at 384
// dimensions.
constexpr std::size_t kFinalLinks = 4;
// A new graph has room for a sixteenth more, so that growing it again is not due as soon as it serves.
constexpr std::size_t kRoom = 16;
// Rows of a new graph that are searched for between two looks at the lock: a quarter of a millisecond.
constexpr std::size_t kProofSlice = 8;
// So many codes are compared in about a microsecond.
constexpr std::size_t kFewLost = 32;
// More than one row in so many that was linked after all were searched for.
constexpr std::size_t kMostUnproven = 256;
// Below that many rows to link or to search for, starting threads is not worth it.
constexpr std::size_t kParallelRows = 2048;
// So many rows are compared beside a search in 60 us, and are: that is exact. In a graph of a million rows
// the ordinary beam misses one in fifty, 350 us; of so many only those are kept aside that wider beams miss,
// too, until they are few.
constexpr std::size_t kMostAside = 4096, kFewAside = 512;
// The widest takes two milliseconds, for which it holds writers up.
constexpr std::size_t kWideBeam = 512, kWidestBeam = 2048;
// Where more than one in so many is missed the graph is thin, and a wide beam is no answer.
constexpr std::size_t kThin = 16;

std::size_t threads_for(std::size_t wanted) {
  if (wanted == 0) wanted = std::thread::hardware_concurrency() / 2;
  return std::clamp<std::size_t>(wanted, 1, Graph::kBuilders);
}

}  // namespace

/// `loaded`: a snapshot's graph, to which the rows that were written since are still to be linked, and which
/// does not find what is `lost`.
void Partition::build(std::unique_ptr<Graph> loaded, std::vector<Slot> lost) {
  const bool fresh = loaded == nullptr;
  auto graph =
      fresh ? std::make_unique<Graph>(rows_, codes_.get(), kernels_, options_.graph) : std::move(loaded);
  {
    const HeldAlone guard(lock_, longest_hold_);
    if (fresh) {
      churn_ = 0;
      dirty_.clear();
    }
    restored_slots_ = 0;
    growing_ = graph.get();
  }
  CostModel costs = costs_;  // this thread alone replaces them
  GraphCosts graph_costs = graph_costs_;
  std::size_t proven = graph->size();  // nodes that were there when all were searched for
  bool ready = false, measured = false, doubtful = !fresh && audit_due_, promising = false;
  while (!stop_tender_.load()) {
    if (!ready) {
      if (!link_rows(*graph)) break;
      if (graph->size() > proven + proven / 4) {
        proven = graph->size();
        if (!prove(*graph, lost, promising) || !keep_unreachable(graph, lost, stop_tender_)) break;
      }
      {
        const HeldShared guard(lock_, longest_hold_);
        ready = few_left(*graph);
      }
      if (ready && !measured) {
        measure_costs(*graph, costs, graph_costs);
        measured = true;
      }
      continue;
    }
    const HeldAlone guard(lock_, longest_hold_);
    // Writers may have come in between: then a few more steps beside the searches.
    const std::size_t end = live_end();
    ready = few_left(*graph);
    if (!ready) continue;
    bool linked = graph->reserve(std::max(end, graph->size())).ok();
    while (linked && graph->size() < end) linked = graph->add(0).ok();
    while (linked && !dirty_.empty()) linked = link_dirty(*graph);
    if (!linked) break;
    // The slots that the new graph does not know are all free: they go with the old graph.
    garbage_.push_back(std::move(graph_));
    truncate(graph->size());
    graph_ = std::move(graph);
    // A few lost ones are compared beside each search until an audit is due anyway. Many are a reason for one
    // where it is likely to find them a place, or to find more among the rows that nobody searched for yet.
    const std::size_t unproven = graph_->size() - proven;
    doubtful = doubtful || (lost.size() > kFewLost && (promising || unproven * kMostUnproven > proven));
    wear_ += unproven;
    kept_aside_.clear();
    unlinked_.clear();
    std::copy_if(lost.begin(), lost.end(), std::back_inserter(kept_aside_),
                 [this](Slot slot) { return live_.test(slot); });
    growing_ = nullptr;
    costs_ = costs;
    graph_costs_ = graph_costs;
    audit_due_ = doubtful;
    return;
  }
  // Stopped, or out of memory: searches go on as before, and no further try is made until the next write.
  const HeldAlone guard(lock_, longest_hold_);
  stop_tender_.store(true);
  growing_ = nullptr;
  dirty_.clear();
}

/// Whether what a graph lacks can be linked while everyone waits.
bool Partition::few_left(const Graph& graph) const {
  const std::size_t end = live_end();
  return dirty_.size() + (end - std::min(end, graph.size())) <= kFinalLinks;
}

/// Runs `work(builder)` on as many threads as `items` rows are worth, numbered from 0.
template <typename Work>
void Partition::on_build_threads(std::size_t items, Work work) const {
  const std::size_t threads = items < kParallelRows ? 1 : threads_for(options_.build_threads);
  std::vector<std::thread> others;
  for (std::size_t builder = 1; builder < threads; ++builder) others.emplace_back(work, builder);
  work(0);
  for (std::thread& other : others) other.join();
}

/// Links what is there, then what changed meanwhile. False where it was stopped or memory ran out.
bool Partition::link_rows(Graph& graph) {
  std::size_t end = 0;
  {
    const HeldShared guard(lock_, longest_hold_);
    end = live_end();
  }
  // No insertion is under way now: the only moment at which the graph may grow.
  const std::size_t room = std::max(kFinalLinks, end / kRoom);
  if (graph.capacity() < end + kFinalLinks && !graph.reserve(end + room).ok()) return false;
  std::atomic<std::size_t> claimed{graph.size()};
  std::atomic<bool> failed{false};
  on_build_threads(end - std::min(end, graph.size()), [&](std::size_t builder) {
    while (!stop_tender_.load() && !failed.load() && claimed.fetch_add(1) < end) {
      const HeldShared guard(lock_, longest_hold_);
      if (!graph.add(builder).ok()) failed.store(true);
    }
  });
  while (!failed.load() && !stop_tender_.load()) {
    const HeldShared guard(lock_, longest_hold_);
    if (dirty_.empty()) break;
    if (!link_dirty(graph)) failed.store(true);
  }
  return !failed.load() && !stop_tender_.load();
}

/// Only writers, which the lock keeps out, and the background thread touch the list.
bool Partition::link_dirty(Graph& graph) {
  const Slot slot = dirty_.back();
  dirty_.pop_back();
  return graph.update(slot).ok();
}

/// Every live row is searched for and what is not found is linked anew, which may push another's last link
/// out: then all are searched for once more. What is `lost` after that, in the order of the slots, and
/// whether linking anew helped most of them, so that it is `promising` to do it again. False where it was
/// stopped or memory ran out.
bool Partition::prove(Graph& graph, std::vector<Slot>& lost, bool& promising) {
  {
    const HeldAlone guard(lock_, longest_hold_);
    wear_ = 0;
  }
  if (!find_lost(graph, lost)) return false;
  if (lost.empty()) return true;
  for (const Slot slot : lost) {
    const HeldShared guard(lock_, longest_hold_);
    if (stop_tender_.load() || !graph.update(slot).ok()) return false;
  }
  const std::size_t before = lost.size();
  const bool done = find_lost(graph, lost);
  promising = lost.size() < before / 2;
  return done;
}

bool Partition::find_lost(const Graph& graph, std::vector<Slot>& lost) const {
  lost.clear();
  std::mutex mutex;
  std::atomic<std::size_t> claimed{0};
  const std::size_t end = graph.size();
  on_build_threads(end, [&](std::size_t) {
    for (std::size_t slot; !stop_tender_.load() && (slot = claimed.fetch_add(kProofSlice)) < end;) {
      const HeldShared guard(lock_, longest_hold_);
      for (const std::size_t last = std::min(end, slot + kProofSlice); slot < last; ++slot) {
        if (!live_.test(slot) || finds(graph, static_cast<Slot>(slot))) continue;
        std::lock_guard<std::mutex> one(mutex);
        lost.push_back(static_cast<Slot>(slot));
      }
    }
  });
  std::sort(lost.begin(), lost.end());
  return !stop_tender_.load();
}

/// Leaves of `slots`, where they are too many to be compared beside each search, those that a wide beam
/// misses, and of too many of these those that a wider one does. False where it was stopped. `graph` may
/// change between two of them.
bool Partition::keep_unreachable(const std::unique_ptr<Graph>& graph, std::vector<Slot>& slots,
                                 const std::atomic<bool>& stop) const {
  {
    const HeldShared guard(lock_, longest_hold_);
    if (slots.size() <= kMostAside || slots.size() * kThin > live_rows_) return true;
  }
  for (std::size_t beam = std::max(kWideBeam, options_.ef_search);
       slots.size() > kFewAside && beam <= kWidestBeam && !stop.load(); beam *= 2) {
    std::vector<char> missed(slots.size(), 1);
    std::atomic<std::size_t> claimed{0};
    on_build_threads(slots.size(), [&](std::size_t) {
      for (std::size_t i; !stop.load() && (i = claimed.fetch_add(1)) < slots.size();) {
        const HeldShared guard(lock_, longest_hold_);
        const Slot slot = slots[i];
        if (!graph || slot >= graph->size() || !live_.test(slot)) continue;
        missed[i] = !finds(*graph, slot, beam);
      }
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (missed[i] != 0) slots[kept++] = slots[i];
    }
    slots.resize(kept);
  }
  return !stop.load();
}

}  // namespace errata
