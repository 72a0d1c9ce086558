#include <algorithm>
#include <chrono>
#include <shared_mutex>

#include "index/partition.hpp"

// What a partition does in the background: one thread, one task after another, none of which holds the
// exclusive lock longer than a slice. Searches and writers go on beside it.

namespace errata {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLeastTombstones = 1024;
constexpr std::size_t kLeastChurn = 1000;
constexpr std::chrono::microseconds kSlice{500};

}  // namespace

Partition::Task Partition::due() const {
  if (restored_) return Task::kRestore;
  if (!garbage_.empty()) return Task::kFree;
  if (!unlinked_.empty() && !links_rest_) return Task::kLink;
  if (save_) return Task::kNone;
  // Removed rows cost memory and a share of every scan: at a quarter their slots are closed up.
  const bool sparse = tombstones() * 4 >= info_.size() && tombstones() != 0 &&
                      (tombstones() >= kLeastTombstones || compaction_wanted_);
  // Without a graph the slots go even where they were closed up before: it was the graph that knew them.
  if (sparse && (live_end() > live_rows_ || !graph_)) return Task::kCompact;
  const bool wants_graph = live_rows_ > 0 && live_rows_ >= options_.graph_threshold;
  if (wants_graph) {
    // Links of removed and replaced rows wear the graph out; at half of its size a new one is cheaper than
    // the loss. Slots past the last live row go when the graph that knows them goes.
    const bool worn = graph_ && churn_ > std::max(kLeastChurn, graph_->size() / 2);
    if (!graph_ || worn || sparse) return Task::kBuild;
  }
  // A quarter of the rows changed, or as many as half were added: every row is searched for.
  const bool worn_since = graph_ && wear_ > std::max(2 * kLeastChurn, graph_->size() / 2);
  return graph_ && (audit_due_ || worn_since) ? Task::kAudit : Task::kNone;
}

void Partition::maintain() {
  if (closed_.load()) return;
  {
    std::lock_guard<RwLock> guard(lock_);
    drop_small_graph();
    if (tending_.load() || due() == Task::kNone) return;
    tending_.store(true);
  }
  if (tender_.joinable()) tender_.join();
  stop_tender_.store(false);
  tender_ = std::thread([this] { tend(); });
}

/// Also after a build that rows were removed beside: without a further write nobody else would.
void Partition::drop_small_graph() {
  if (!graph_ || links_rest_ || live_rows_ >= options_.graph_threshold / 2) return;
  garbage_.push_back(std::move(graph_));
  drop_graph();
}

void Partition::drop_graph() {
  graph_.reset();
  kept_aside_.clear();
  unlinked_.clear();
  churn_ = wear_ = 0;
  audit_due_ = false;
}

void Partition::tend() {
  for (;;) {
    Task task;
    std::vector<std::shared_ptr<void>> garbage;
    {
      const HeldAlone guard(lock_, longest_hold_);
      drop_small_graph();
      task = stop_tender_.load() ? Task::kNone : due();
      if (task == Task::kNone) {
        std::lock_guard<std::mutex> settled(settled_mutex_);
        tending_.store(false);
      } else {
        garbage.swap(garbage_);
      }
    }
    switch (task) {
      case Task::kRestore:
        finish_restore();
        break;
      case Task::kFree:
        break;
      case Task::kLink:
        for (bool more = true; more && !stop_tender_.load();) more = link_next();
        break;
      case Task::kCompact:
        compact_rows();
        break;
      case Task::kBuild:
        build(nullptr);
        break;
      case Task::kAudit: {
        AuditReport report;
        if (!audit_rows(report, stop_tender_).ok()) stop_tender_.store(true);
        break;
      }
      case Task::kNone:
        settled_.notify_all();
        return;
    }
  }
}

/// Until it is linked, every search compares the row besides.
void Partition::link_later(Slot slot) {
  kept_aside_.insert(std::lower_bound(kept_aside_.begin(), kept_aside_.end(), slot), slot);
  unlinked_.push_back(slot);
}

/// Links one row that was written while links were copied. False when none is left.
bool Partition::link_next() {
  const HeldAlone guard(lock_, longest_hold_);
  if (!graph_ || links_rest_ || unlinked_.empty()) return false;
  const bool append = graph_->size() < info_.size();
  const Slot slot = append ? static_cast<Slot>(graph_->size()) : unlinked_.back();
  if (!append) unlinked_.pop_back();
  const auto aside = std::lower_bound(kept_aside_.begin(), kept_aside_.end(), slot);
  const bool waits = aside != kept_aside_.end() && *aside == slot;
  Status status;
  if (append) {
    status = graph_->reserve(graph_->size() + 1);
    if (status.ok()) status = graph_->add(0);
  } else if (waits) {
    status = graph_->update(slot);
  }
  if (waits) kept_aside_.erase(aside);
  if (!status.ok()) drop_graph();
  return true;
}

void Partition::stop_tending() {
  stop_tender_.store(true);
  end_head_start();
  if (tender_.joinable()) tender_.join();
}

void Partition::settle() {
  std::unique_lock<std::mutex> guard(settled_mutex_);
  settled_.wait(guard, [this] { return !tending_.load(); });
}

Status Partition::compact(std::size_t& freed) {
  freed = 0;
  bool waits = false;
  {
    std::lock_guard<std::mutex> writer(writers_);
    Status status = writable();
    if (!status.ok()) return status;
    {
      std::lock_guard<RwLock> guard(lock_);
      if (tombstones() * 4 < info_.size() || tombstones() == 0) return {};
      freed = tombstones();
      compaction_wanted_ = true;
      waits = !graph_;
    }
    maintain();
  }
  if (waits) settle();
  return {};
}

void Partition::compact_rows() {
  for (bool more = true; more && !stop_tender_.load() && !closed_.load();) {
    const HeldAlone guard(lock_, longest_hold_);
    more = compact_slice();
  }
}

std::size_t Partition::live_end() const {
  for (std::size_t word = live_.word_count(); word > 0; --word) {
    std::uint64_t bits = live_.word(word - 1);
    if (bits == 0) continue;
    std::size_t end = (word - 1) * 64;
    for (; bits; bits >>= 1) ++end;
    return end;
  }
  return 0;
}

bool Partition::compact_slice() {
  const Clock::time_point end = Clock::now() + kSlice;
  std::size_t high = live_end();
  while (high > live_rows_ && Clock::now() < end) {
    const Slot from = static_cast<Slot>(high - 1), to = lowest_free();
    const SlotInfo moved = info_[from];
    KeyEntry& entry = *keys_.find(moved.key);
    tag_rows(entry, false);
    entry.slots[moved.kind] = to;
    live_.set(to);
    if (primary_.test(from)) primary_.set(to);
    // Where there is a graph, the row is linked in its new place; its old node is a tombstone until the next
    // build.
    (void)write_row(to, moved.key, moved.order, static_cast<std::uint8_t>(moved.kind), rows_.row(from));
    live_.clear(from);
    primary_.clear(from);
    tag_rows(entry, true);
    while (high > 0 && !live_.test(high - 1)) --high;
  }
  if (high > live_rows_) return true;
  if (!graph_) truncate(high);
  ++compactions_;
  return false;
}

/// Gives back the slots from `end` on, all free; no graph may know them.
void Partition::truncate(std::size_t end) {
  const auto drop = [this](std::vector<std::shared_ptr<void>> blocks) {
    garbage_.insert(garbage_.end(), blocks.begin(), blocks.end());
  };
  drop(info_.truncate(end));
  drop(rows_.blocks().truncate(end));
  if (codes_) drop(codes_->blocks().truncate(end));
  live_.resize_words((end + 63) / 64);
  primary_.resize_words((end + 63) / 64);
  free_word_ = std::min(free_word_, end / 64);
  compaction_wanted_ = false;
}

}  // namespace errata
