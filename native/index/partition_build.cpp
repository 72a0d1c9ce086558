#include <algorithm>
#include <shared_mutex>
#include <thread>

#include "index/partition.hpp"

// The background build of a partition's graph. It reads rows under the shared lock, one insertion at a time,
// so that searches go on and writers wait for at most one insertion a thread; then it swaps the graph in
// under the exclusive lock.

namespace errata {
namespace {

// What the builder may still link while everyone waits, at the moment of the swap: about 5 ms at 384
// dimensions.
constexpr std::size_t kFinalLinks = 16;
// Of a new graph every such row is searched for; one that is not found has all of them searched for.
constexpr std::size_t kProofStep = 64;
// Below that many rows to link, starting threads is not worth it.
constexpr std::size_t kParallelLinks = 2048;

std::size_t threads_for(std::size_t wanted) {
  if (wanted == 0) wanted = std::thread::hardware_concurrency() / 2;
  return std::clamp<std::size_t>(wanted, 1, Graph::kBuilders);
}

}  // namespace

/// `loaded`: a snapshot's graph, to which the rows that were written since are still to be linked.
void Partition::build(std::unique_ptr<Graph> loaded) {
  const bool fresh = loaded == nullptr;
  auto graph =
      fresh ? std::make_unique<Graph>(rows_, codes_.get(), kernels_, options_.graph) : std::move(loaded);
  {
    std::lock_guard<RwLock> guard(lock_);
    if (fresh) {
      churn_ = audited_churn_ = 0;
      dirty_.clear();
    }
    restored_slots_ = 0;
    growing_ = graph.get();
  }
  CostModel costs = costs_;  // this thread alone replaces them
  GraphCosts graph_costs = graph_costs_;
  bool ready = false, proven = !fresh, doubtful = !fresh && audit_due_;
  while (!stop_tender_.load()) {
    if (!ready) {
      if (!link_rows(*graph) || (!proven && !prove(*graph, doubtful))) break;
      proven = true;
      std::shared_lock<RwLock> guard(lock_);
      ready = dirty_.size() + (live_end() - std::min(live_end(), graph->size())) <= kFinalLinks;
      if (ready) measure_costs(*graph, costs, graph_costs);
      continue;
    }
    std::lock_guard<RwLock> guard(lock_);
    // Writers may have come in between: then a few more steps beside the searches.
    const std::size_t end = live_end();
    ready = dirty_.size() + (end - std::min(end, graph->size())) <= kFinalLinks;
    if (!ready) continue;
    bool linked = graph->reserve(std::max(end, graph->size())).ok();
    while (linked && graph->size() < end) linked = graph->add(0).ok();
    while (linked && !dirty_.empty()) linked = link_dirty(*graph);
    if (!linked) break;
    // The slots that the new graph does not know are all free: they go with the old graph.
    graph_.reset();
    truncate(graph->size());
    graph_ = std::move(graph);
    kept_aside_.clear();
    growing_ = nullptr;
    costs_ = costs;
    graph_costs_ = graph_costs;
    audit_due_ = doubtful;
    return;
  }
  // Stopped, or out of memory: searches go on as before, and no further try is made until the next write.
  std::lock_guard<RwLock> guard(lock_);
  stop_tender_.store(true);
  growing_ = nullptr;
  dirty_.clear();
}

/// Links what is there, then what changed meanwhile. False where it was stopped or memory ran out.
bool Partition::link_rows(Graph& graph) {
  std::size_t end = 0;
  {
    // No insertion is under way now: the only moment at which the graph may grow.
    std::shared_lock<RwLock> guard(lock_);
    end = live_end();
    if (graph.size() < end && !graph.reserve(end).ok()) return false;
  }
  const std::size_t missing = end - std::min(end, graph.size());
  const std::size_t threads = missing < kParallelLinks ? 1 : threads_for(options_.build_threads);
  std::atomic<std::size_t> claimed{graph.size()};
  std::atomic<bool> failed{false};
  const auto link = [&](std::size_t builder) {
    while (!stop_tender_.load() && !failed.load() && claimed.fetch_add(1) < end) {
      std::shared_lock<RwLock> guard(lock_);
      if (!graph.add(builder).ok()) failed.store(true);
    }
  };
  std::vector<std::thread> others;
  for (std::size_t builder = 1; builder < threads; ++builder) others.emplace_back(link, builder);
  link(0);
  for (std::thread& other : others) other.join();
  while (!failed.load() && !stop_tender_.load()) {
    std::shared_lock<RwLock> guard(lock_);
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

/// What no link leads to is linked anew, and a sample of the rows is searched for: `doubtful` where one is
/// not found. False where it was stopped or memory ran out.
bool Partition::prove(Graph& graph, bool& doubtful) {
  // The graph is this thread's own, so following its links needs no lock.
  Bitmap reached;
  if (!graph.reach(reached).ok()) return false;
  for (std::size_t slot = 0; slot < graph.size(); ++slot) {
    if (reached.test(slot)) continue;
    std::shared_lock<RwLock> guard(lock_);
    if (stop_tender_.load() || !graph.update(static_cast<Slot>(slot)).ok()) return false;
  }
  for (std::size_t slot = 0; slot < graph.size() && !doubtful; slot += kProofStep) {
    std::shared_lock<RwLock> guard(lock_);
    if (stop_tender_.load()) return false;
    doubtful = live_.test(slot) && !finds(graph, static_cast<Slot>(slot));
  }
  return true;
}

}  // namespace errata
