#include <algorithm>
#include <shared_mutex>

#include "index/partition.hpp"

// The background build of a partition's graph. It reads rows under the shared lock, one insertion at a time,
// so that searches go on and writers wait for at most one insertion; then it swaps the graph in under the
// exclusive lock.

namespace errata {
namespace {

// What the builder may still link while everyone waits, at the moment of the swap: about 5 ms at 384
// dimensions.
constexpr std::size_t kFinalLinks = 16;
constexpr std::size_t kLeastChurn = 1000;

}  // namespace

void Partition::maintain() {
  if (closed_.load() || building_.load()) return;
  bool wants_graph = false;
  {
    std::lock_guard<RwLock> guard(lock_);
    if (graph_ && live_rows_ < options_.graph_threshold / 2) graph_.reset();
    // Links of removed and replaced rows wear the graph out; at half of its size a new one is cheaper than
    // the loss.
    const bool worn = graph_ && churn_ > std::max(kLeastChurn, graph_->size() / 2);
    wants_graph = live_rows_ > 0 && live_rows_ >= options_.graph_threshold && (!graph_ || worn);
    if (wants_graph) {
      churn_ = 0;
      built_.store(0);
      dirty_.clear();
      building_.store(true);
    }
  }
  if (!wants_graph) return;
  if (builder_.joinable()) builder_.join();
  stop_builder_.store(false);
  builder_ = std::thread([this] { build(); });
}

void Partition::build() {
  auto graph = std::make_unique<Graph>(rows_, codes_.get(), kernels_, options_.graph);
  bool ready = false;
  CostModel costs = costs_;  // this thread alone replaces them
  double nodes_per_beam = nodes_per_beam_;
  while (!stop_builder_.load()) {
    if (!ready) {
      std::shared_lock<RwLock> guard(lock_);
      if (!build_step(*graph, ready)) break;
      if (ready) measure_costs(*graph, costs, nodes_per_beam);
      continue;
    }
    std::lock_guard<RwLock> guard(lock_);
    // Writers may have come in between: then a few more steps beside the searches.
    ready = dirty_.size() + (info_.size() - graph->size()) <= kFinalLinks;
    if (!ready) continue;
    bool linked = true;
    while (linked && (graph->size() < info_.size() || !dirty_.empty())) linked = build_step(*graph, ready);
    if (linked) {
      graph_ = std::move(graph);
      costs_ = costs;
      nodes_per_beam_ = nodes_per_beam;
    }
    end_build();
    return;
  }
  // Stopped, or out of memory: searches go on as before.
  std::lock_guard<RwLock> guard(lock_);
  end_build();
}

bool Partition::build_step(Graph& graph, bool& ready) {
  Status status;
  if (graph.size() < info_.size()) {
    status = graph.reserve(graph.size() + 1);
    if (status.ok()) status = graph.add(0);
    built_.store(graph.size());
  } else if (!dirty_.empty()) {
    // Only writers, which the lock keeps out, and this thread touch the list.
    const Slot slot = dirty_.back();
    dirty_.pop_back();
    status = graph.update(slot);
  }
  ready = dirty_.size() + (info_.size() - graph.size()) <= kFinalLinks;
  return status.ok();
}

void Partition::end_build() {
  dirty_.clear();
  {
    std::lock_guard<std::mutex> guard(settled_mutex_);
    building_.store(false);
  }
  settled_.notify_all();
}

void Partition::stop_building() {
  stop_builder_.store(true);
  if (builder_.joinable()) builder_.join();
}

void Partition::settle() {
  std::unique_lock<std::mutex> guard(settled_mutex_);
  settled_.wait(guard, [this] { return !building_.load(); });
}

}  // namespace errata
