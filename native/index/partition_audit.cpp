#include <algorithm>
#include <atomic>
#include <shared_mutex>

#include "index/partition.hpp"

// Checks that the graph finds every live row, and links anew what it does not find.

namespace errata {
namespace {

// Rows between two looks at the lock: half a millisecond of searches.
constexpr std::size_t kRowsASlice = 8;
// Nearly every row is found by so narrow a beam, at a third of the cost; what it visits, a wider one visits.
constexpr std::size_t kNarrowBeam = 12;
// So many rows that score as high as a row itself leave it no place in an ordinary answer.
constexpr std::size_t kCrowd = 10;
constexpr std::size_t kPasses = 3;

}  // namespace

/// Whether a search for a row's own vector finds the row, or so many equal ones that it has no place. It is
/// the narrowest search with the partition's own beam, exact scores included: rows that are equal by their
/// codes alone do not count. `beam`: another than the partition's.
bool Partition::finds(const Graph& graph, Slot slot, std::size_t beam) const {
  CodeQuery coded;
  if (codes_) codes_->load_query(slot, coded);
  const float* vector = rows_.row(slot);
  GraphSearch search;
  search.vector = vector;
  search.coded = &coded;
  const auto found = [&](std::size_t wanted, std::size_t ef) {
    search.wanted = wanted;
    search.ef = ef;
    if (!graph.search(search).ok()) return false;
    return std::any_of(search.found.begin(), search.found.end(),
                       [slot](const NearRow& row) { return row.slot == slot; });
  };
  const std::size_t wanted = 1 + kRescoreRows, ef = std::max(beam == 0 ? options_.ef_search : beam, wanted);
  if (ef > kNarrowBeam && found(kNarrowBeam, kNarrowBeam)) return true;
  if (found(wanted, ef)) return true;
  const float own = score(vector, slot);
  const auto equal = [&](const NearRow& row) { return score(vector, row.slot) >= own; };
  return std::count_if(search.found.begin(), search.found.end(), equal) >=
         static_cast<std::ptrdiff_t>(kCrowd);
}

/// Links a row anew if it `may` and the graph does not find it; what stays lost is kept aside. Needs the
/// exclusive lock.
void Partition::settle_row(Slot slot, bool may_link, AuditReport& report) {
  const auto aside = std::lower_bound(kept_aside_.begin(), kept_aside_.end(), slot);
  const bool is_aside = aside != kept_aside_.end() && *aside == slot;
  bool found = finds(*graph_, slot);
  if (!found && may_link) {
    ++repairs_;
    found = graph_->update(slot).ok() && finds(*graph_, slot);
    report.repaired += found;
  }
  if (found && is_aside) kept_aside_.erase(aside);
  if (!found && !is_aside) kept_aside_.insert(aside, slot);
}

Status Partition::audit(AuditReport& report) {
  return audit_rows(report, closed_);
}

Status Partition::audit_rows(AuditReport& report, const std::atomic<bool>& stop) {
  std::lock_guard<std::mutex> one(audits_mutex_);
  report = {};
  // Linking one row anew may push another's last link out, so what was repaired is checked again; the last
  // pass changes no link, and after it every row is found or kept aside.
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    std::size_t lost = 0;
    Status status = audit_pass(pass, lost, report, stop);
    if (!status.ok()) return status;
    if (pass == 0) report.lost = lost;
    if (lost == 0) break;
    // Linking anew helps little: once more only to see what is lost now.
    if (pass == 0 && report.repaired < lost / 2) pass = kPasses - 2;
  }
  if (Status status = release_reachable(stop); !status.ok()) return status;
  std::lock_guard<RwLock> guard(lock_);
  audit_due_ = false;
  wear_ = 0;
  ++audits_;
  report.kept_aside = kept_aside_.size();
  return {};
}

/// Of what is kept aside, leaves what `keep_unreachable` does.
Status Partition::release_reachable(const std::atomic<bool>& stop) {
  std::vector<Slot> before;
  {
    const HeldShared guard(lock_, longest_hold_);
    before = kept_aside_;
  }
  std::vector<Slot> unreachable = before;
  if (!keep_unreachable(graph_, unreachable, stop)) {
    return Status::fail(Code::kClosed, "Expected an open index, received a call after close()");
  }
  if (unreachable.size() == before.size()) return {};
  const HeldAlone guard(lock_, longest_hold_);
  std::vector<Slot> waiting = unlinked_;
  std::sort(waiting.begin(), waiting.end());
  const auto has = [](const std::vector<Slot>& slots, Slot slot) {
    return std::binary_search(slots.begin(), slots.end(), slot);
  };
  // What writers put aside meanwhile, and what waits to be linked, stays.
  kept_aside_.erase(
      std::remove_if(
          kept_aside_.begin(), kept_aside_.end(),
          [&](Slot slot) { return has(before, slot) && !has(unreachable, slot) && !has(waiting, slot); }),
      kept_aside_.end());
  return {};
}

Status Partition::audit_pass(std::size_t pass, std::size_t& lost, AuditReport& report,
                             const std::atomic<bool>& stop) {
  std::vector<Slot> unsettled;
  for (std::size_t slot = 0;;) {
    {
      const HeldShared guard(lock_, longest_hold_);
      if (stop.load()) {
        return Status::fail(Code::kClosed, "Expected an open index, received a call after close()");
      }
      const std::size_t end = graph_ ? graph_->size() : 0;
      if (slot >= end) return {};
      for (std::size_t i = 0; i < kRowsASlice && slot < end; ++slot) {
        const Slot row = static_cast<Slot>(slot);
        if (!live_.test(row)) continue;
        ++i;
        const bool found = finds(*graph_, row);
        if (!found) ++lost;
        if (!found || std::binary_search(kept_aside_.begin(), kept_aside_.end(), row))
          unsettled.push_back(row);
        if (pass == 0) ++report.checked;
      }
    }
    for (; !unsettled.empty(); unsettled.pop_back()) {
      const HeldAlone guard(lock_, longest_hold_);
      const Slot row = unsettled.back();
      // A writer may have come in between.
      if (graph_ && row < graph_->size() && live_.test(row)) settle_row(row, pass + 1 < kPasses, report);
    }
  }
}

}  // namespace errata
