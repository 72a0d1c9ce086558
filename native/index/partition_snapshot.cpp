#include <algorithm>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "index/partition.hpp"
#include "index/save_point.hpp"
#include "snapshot/snapshot_writer.hpp"

// A partition's part of a snapshot, written. Reading it is in partition_restore.cpp.

namespace errata {
namespace {

constexpr std::uint32_t kLive = 1;
constexpr std::uint32_t kPrimary = 2;

}  // namespace

Status Partition::pin(bool stops_background) {
  // What is not verified yet must not be written with new digests.
  Status status = verified();
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> writer(writers_);
  if (!(status = closed_status()).ok()) return status;
  if (stops_background) stop_tending();
  if (tending_.load()) {
    return Status::fail(Code::kQueueFull, "Expected an index at rest, received one that builds or compacts");
  }
  const HeldAlone guard(lock_, longest_hold_);
  if (save_) return Status::fail(Code::kQueueFull, "Expected one save at a time, received another one");
  save_ = std::make_unique<SavePoint>();
  save_->slots = info_.size();
  save_->live = live_;
  save_->primary = primary_;
  save_->live_rows = live_rows_;
  save_->keys = keys_.size();
  save_->code_error = code_error_;
  // A graph whose dead nodes are cleared may lose rows behind them.
  save_->doubtful = graph_ && (tombstones() != 0 || audit_due_);
  // Nodes of dead slots lead nowhere once their codes are cleared: past a tenth a new graph is better.
  save_->with_graph =
      graph_ && graph_->size() == info_.size() && unlinked_.empty() && tombstones() * 10 <= info_.size();
  if (save_->with_graph) save_->aside = kept_aside_;
  links_rest_ = save_->with_graph;
  return {};
}

Status Partition::copy_links() {
  if (!save_->with_graph) return {};
  Status status;
  {
    // Without `lock_`, which would hold writers up: they leave links alone, and the background is at rest.
    std::lock_guard<std::mutex> no_audit(audits_mutex_);
    status = graph_->save(save_->links);
  }
  std::lock_guard<std::mutex> writer(writers_);
  {
    const HeldAlone guard(lock_, longest_hold_);
    links_rest_ = false;
  }
  maintain();
  return status;
}

void Partition::unpin() {
  std::unique_ptr<SavePoint> written;
  std::lock_guard<std::mutex> writer(writers_);
  {
    const HeldAlone guard(lock_, longest_hold_);
    written = std::move(save_);
    links_rest_ = false;
  }
  maintain();
}

/// For writers, before they change a key's rows or tags.
void Partition::keep_chunks(const KeyEntry& entry) {
  for (const Slot slot : entry.slots) {
    if (slot == kNoSlot || slot >= save_->slots) continue;
    const std::size_t chunk = slot / kChunkSlots;
    if (chunk < save_->slots_done) continue;
    const auto [at, added] = save_->kept.try_emplace(chunk);
    if (!added) continue;
    const auto copy = [chunk](const BlockStore& blocks, std::vector<std::byte>& to) {
      to.assign(blocks.chunk(chunk), blocks.chunk(chunk) + blocks.chunk_bytes());
    };
    if (chunk >= save_->rows_done) copy(rows_.blocks(), at->second.rows);
    if (codes_ && chunk >= save_->codes_done) copy(codes_->blocks(), at->second.codes);
    copy_slots(chunk, at->second.slots);
  }
}

/// Of a chunk none of whose keys changed since.
void Partition::copy_slots(std::size_t chunk, SavePoint::Slots& to) const {
  const std::size_t begin = chunk * kChunkSlots, end = std::min(save_->slots, begin + kChunkSlots);
  for (std::size_t slot = begin; slot < end; ++slot) {
    SlotInfo info{};
    if (save_->live.test(slot)) {
      info = info_[slot];
      info.flags = kLive | (save_->primary.test(slot) ? kPrimary : 0);
      const KeyEntry& entry = *keys_.find(info.key);
      if (slot == std::min(entry.slots[0], entry.slots[1]))
        to.tags.insert(to.tags.end(), entry.tags.begin(), entry.tags.end());
    }
    to.infos.push_back(info);
    to.ends.push_back(static_cast<std::uint32_t>(to.tags.size()));
  }
}

/// Chunks as they were, but with zeros where no row was live: what was erased must not outlive on disk.
template <typename Clear>
Status Partition::save_chunks(SnapshotWriter& writer, const BlockStore& blocks,
                              std::vector<std::byte> SavePoint::Chunk::*part, std::size_t& done,
                              Clear clear) const {
  std::vector<std::byte> copy;
  for (std::size_t chunk = 0; chunk * kChunkSlots < save_->slots; ++chunk) {
    {
      const HeldShared guard(lock_, longest_hold_);
      const auto kept = save_->kept.find(chunk);
      if (kept == save_->kept.end() || (kept->second.*part).empty()) {
        copy.assign(blocks.chunk(chunk), blocks.chunk(chunk) + blocks.chunk_bytes());
      } else {
        copy.swap(kept->second.*part);
        kept->second.*part = {};
      }
      done = chunk + 1;
    }
    const std::uint64_t live = save_->live.word(chunk);
    for (std::size_t i = 0; ~live != 0 && i < kChunkSlots; ++i) {
      if (((live >> i) & 1) == 0) clear(copy.data(), i);
    }
    const Status status = writer.append(copy.data(), copy.size());
    if (!status.ok()) return status;
  }
  return {};
}

Status Partition::save(SnapshotWriter& writer, std::uint32_t number) const {
  const std::size_t row_bytes = rows_.stride() * sizeof(float);
  writer.begin_section(SectionKind::kRows, number, rows_.piece_bytes());
  Status status = save_chunks(
      writer, rows_.blocks(), &SavePoint::Chunk::rows, save_->rows_done,
      [row_bytes](std::byte* chunk, std::size_t i) { std::memset(chunk + i * row_bytes, 0, row_bytes); });
  if (status.ok()) status = writer.end_section();
  if (!status.ok()) return status;
  if (codes_) {
    writer.begin_section(SectionKind::kCodes, number, codes_->blocks().chunk_bytes());
    const std::size_t stride = codes_->stride();
    status =
        save_chunks(writer, codes_->blocks(), &SavePoint::Chunk::codes, save_->codes_done,
                    [stride](std::byte* chunk, std::size_t i) {
                      std::memset(chunk + i * stride, 128, stride);
                      std::memset(chunk + kChunkSlots * stride + i * sizeof(CodeMeta), 0, sizeof(CodeMeta));
                    });
    if (status.ok()) status = writer.end_section();
    if (!status.ok()) return status;
  }
  status = save_slots(writer, number);
  if (!status.ok()) return status;
  if (save_->with_graph) {
    writer.begin_section(SectionKind::kGraph, number);
    status = writer.append(save_->links.data(), save_->links.size());
    if (status.ok()) status = writer.end_section();
    if (!status.ok()) return status;
  }
  if (!save_->aside.empty()) {
    writer.begin_section(SectionKind::kAside, number);
    status = writer.append(save_->aside.data(), save_->aside.size() * sizeof(Slot));
    if (status.ok()) status = writer.end_section();
    if (!status.ok()) return status;
  }
  writer.count_partition(save_->live_rows, save_->keys);
  return {};
}

Status Partition::save_slots(SnapshotWriter& writer, std::uint32_t number) const {
  static_assert(sizeof(SlotInfo) == sizeof(SlotRecord), "one is written as the other");
  writer.begin_section(SectionKind::kSlots, number);
  std::vector<std::uint32_t> ends;
  std::vector<Tag> tags;
  ends.reserve(save_->slots + 1);
  ends.push_back(0);
  Status status;
  for (std::size_t chunk = 0; chunk * kChunkSlots < save_->slots; ++chunk) {
    SavePoint::Slots slots;
    {
      const HeldShared guard(lock_, longest_hold_);
      const auto kept = save_->kept.find(chunk);
      if (kept == save_->kept.end()) {
        copy_slots(chunk, slots);
      } else {
        slots = std::move(kept->second.slots);
        save_->kept.erase(kept);
      }
      save_->slots_done = chunk + 1;
    }
    const auto before = static_cast<std::uint32_t>(tags.size());
    for (const std::uint32_t end : slots.ends) ends.push_back(before + end);
    tags.insert(tags.end(), slots.tags.begin(), slots.tags.end());
    status = writer.append(slots.infos.data(), slots.infos.size() * sizeof(SlotInfo));
    if (!status.ok()) return status;
  }
  status = writer.end_section();
  if (!status.ok()) return status;
  const TagsHead head{save_->slots, save_->code_error, save_->doubtful};
  writer.begin_section(SectionKind::kTags, number);
  status = writer.append(&head, sizeof(head));
  if (status.ok()) status = writer.append(ends.data(), ends.size() * sizeof(std::uint32_t));
  if (status.ok()) status = writer.append(tags.data(), tags.size() * sizeof(Tag));
  if (status.ok()) status = writer.end_section();
  return status;
}

}  // namespace errata
