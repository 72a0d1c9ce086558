#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>

#include "index/partition.hpp"
#include "snapshot/snapshot_reader.hpp"
#include "snapshot/snapshot_writer.hpp"

// A partition's part of a snapshot. What is restored has passed the digests; the checks here keep a file that
// a faulty program wrote from doing harm.

namespace errata {
namespace {

constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();
constexpr std::uint32_t kLive = 1;
constexpr std::uint32_t kPrimary = 2;
// Larger sections stay in the mapped file; smaller ones are copied, so that their rows can lie on huge pages.
constexpr std::size_t kAdoptBytes = std::size_t{8} << 20;

Status corrupt(const char* what) {
  return Status::fail(Code::kCorrupt, std::string("Expected a sound snapshot, received wrong ") + what);
}

/// Chunks as they are, but with zeros where no live row is: what was erased must not outlive on disk.
template <typename ClearSlot>
Status append_chunks(SnapshotWriter& writer, const BlockStore& blocks, const Bitmap& live, std::size_t slots,
                     ClearSlot clear) {
  std::vector<std::byte> copy(blocks.chunk_bytes());
  for (std::size_t chunk = 0; chunk * kChunkSlots < slots; ++chunk) {
    const std::byte* data = blocks.chunk(chunk);
    if (live.word(chunk) != ~std::uint64_t{0}) {
      std::memcpy(copy.data(), data, copy.size());
      for (std::size_t i = 0; i < kChunkSlots; ++i) {
        if (!live.test(chunk * kChunkSlots + i)) clear(copy.data(), i);
      }
      data = copy.data();
    }
    Status status = writer.append(data, blocks.chunk_bytes());
    if (!status.ok()) return status;
  }
  return {};
}

Status take_chunks(BlockStore& blocks, const SectionView& view, std::size_t slots,
                   const std::shared_ptr<Snapshot>& snapshot) {
  const std::size_t chunks = (slots + kChunkSlots - 1) / kChunkSlots;
  if (view.bytes != chunks * blocks.chunk_bytes()) return corrupt("lengths");
  if (view.bytes >= kAdoptBytes) {
    blocks.adopt(view.data, chunks, snapshot);
    return {};
  }
  if (!blocks.reserve(slots)) {
    return Status::fail(Code::kOutOfMemory, "Expected memory for the rows, received none");
  }
  for (std::size_t i = 0; i < chunks; ++i) {
    std::memcpy(blocks.chunk(i), view.data + i * blocks.chunk_bytes(), blocks.chunk_bytes());
  }
  return {};
}

}  // namespace

Status Partition::save(SnapshotWriter& writer, std::uint32_t number, bool stops_background) {
  // Without `lock_`, which would hold searches up: all who change what is read here wait or are at rest.
  std::lock_guard<std::mutex> waits(writers_);
  Status status = closed_status();
  if (!status.ok()) return status;
  if (stops_background) stop_tending();
  std::lock_guard<std::mutex> no_audit(audits_mutex_);
  if (tending_.load()) {
    return Status::fail(Code::kQueueFull, "Expected an index at rest, received one that builds or compacts");
  }
  const std::size_t slots = info_.size();
  const std::size_t row_bytes = rows_.stride() * sizeof(float);
  writer.begin_section(SectionKind::kRows, number);
  status = append_chunks(writer, rows_.blocks(), live_, slots, [row_bytes](std::byte* chunk, std::size_t i) {
    std::memset(chunk + i * row_bytes, 0, row_bytes);
  });
  if (status.ok()) status = writer.end_section();
  if (!status.ok()) return status;
  if (codes_) {
    writer.begin_section(SectionKind::kCodes, number);
    const std::size_t stride = codes_->stride();
    status = append_chunks(writer, codes_->blocks(), live_, slots, [stride](std::byte* chunk, std::size_t i) {
      std::memset(chunk + i * stride, 128, stride);
      std::memset(chunk + kChunkSlots * stride + i * sizeof(CodeMeta), 0, sizeof(CodeMeta));
    });
    if (status.ok()) status = writer.end_section();
    if (!status.ok()) return status;
  }
  status = save_slots(writer, number);
  if (!status.ok()) return status;
  // Nodes of dead slots lead nowhere once their codes are cleared: past a tenth a new graph is better.
  if (graph_ && graph_->size() == slots && tombstones() * 10 <= slots) {
    std::string bytes;
    status = graph_->save(bytes);
    if (!status.ok()) return status;
    writer.begin_section(SectionKind::kGraph, number);
    status = writer.append(bytes.data(), bytes.size());
    if (status.ok()) status = writer.end_section();
    if (!status.ok()) return status;
  }
  writer.count_partition(live_rows_, keys_.size());
  return {};
}

Status Partition::save_slots(SnapshotWriter& writer, std::uint32_t number) const {
  const std::size_t slots = info_.size();
  writer.begin_section(SectionKind::kSlots, number);
  std::vector<std::uint32_t> ends;
  std::vector<Tag> tags;
  ends.reserve(slots + 1);
  ends.push_back(0);
  Status status;
  for (Slot slot = 0; slot < slots; ++slot) {
    SlotRecord record{};
    if (live_.test(slot)) {
      const SlotInfo& info = info_[slot];
      record = {info.key, info.order.high, info.order.low, info.kind,
                kLive | (primary_.test(slot) ? kPrimary : 0)};
      const KeyEntry& entry = *keys_.find(info.key);
      if (slot == std::min(entry.slots[0], entry.slots[1])) {
        tags.insert(tags.end(), entry.tags.begin(), entry.tags.end());
      }
    }
    ends.push_back(static_cast<std::uint32_t>(tags.size()));
    status = writer.append(&record, sizeof(record));
    if (!status.ok()) return status;
  }
  status = writer.end_section();
  if (!status.ok()) return status;
  // A graph whose dead nodes are cleared may lose rows behind them.
  const bool doubtful = graph_ && (tombstones() != 0 || !kept_aside_.empty() || audit_due_);
  const TagsHead head{slots, code_error_, doubtful};
  writer.begin_section(SectionKind::kTags, number);
  status = writer.append(&head, sizeof(head));
  if (status.ok()) status = writer.append(ends.data(), ends.size() * sizeof(std::uint32_t));
  if (status.ok()) status = writer.append(tags.data(), tags.size() * sizeof(Tag));
  if (status.ok()) status = writer.end_section();
  return status;
}

Status Partition::restore(const std::shared_ptr<Snapshot>& snapshot, std::uint32_t number) {
  std::lock_guard<std::mutex> waits(writers_);
  Status status = closed_status();
  if (!status.ok()) return status;
  if (!info_.empty()) return Status::fail(Code::kInvalidInput, "Expected an empty partition to restore");
  SectionView rows, codes, slots, tags, graph;
  const auto find = [&](SectionKind kind, SectionView& view) {
    return snapshot->section(kind, number, view);
  };
  if (!find(SectionKind::kRows, rows) || !find(SectionKind::kSlots, slots) ||
      !find(SectionKind::kTags, tags) || (codes_ && !find(SectionKind::kCodes, codes))) {
    return corrupt("sections");
  }
  {
    std::lock_guard<RwLock> guard(lock_);
    const std::size_t count = slots.bytes / sizeof(SlotRecord);
    if (slots.bytes % sizeof(SlotRecord) != 0 || count >= kNoSlot) return corrupt("lengths");
    status = take_chunks(rows_.blocks(), rows, count, snapshot);
    if (status.ok() && codes_) status = take_chunks(codes_->blocks(), codes, count, snapshot);
    bool doubtful = false;
    if (status.ok()) status = restore_slots(slots, tags, doubtful);
    if (status.ok() && find(SectionKind::kGraph, graph)) {
      auto loaded = std::make_unique<Graph>(rows_, codes_.get(), kernels_, options_.graph);
      status = loaded->load(reinterpret_cast<const char*>(graph.data), graph.bytes, count);
      if (status.ok()) {
        measure_costs(*loaded, costs_, nodes_per_beam_);
        graph_ = std::move(loaded);
        audit_due_ = doubtful;
      }
    }
    if (!status.ok()) {
      // As it was: empty.
      drop_graph();
      info_.clear();
      keys_.clear();
      tags_.clear();
      live_ = {};
      primary_ = {};
      live_rows_ = free_word_ = 0;
      rows_.blocks().truncate(0);
      if (codes_) codes_->blocks().truncate(0);
    }
  }
  if (status.ok()) maintain();
  return status;
}

Status Partition::restore_slots(const SectionView& slots, const SectionView& tags, bool& doubtful) {
  const std::size_t count = slots.bytes / sizeof(SlotRecord);
  const auto* records = reinterpret_cast<const SlotRecord*>(slots.data);
  TagsHead head;
  if (tags.bytes < sizeof(head) + (count + 1) * sizeof(std::uint32_t)) return corrupt("lengths");
  std::memcpy(&head, tags.data, sizeof(head));
  const auto* ends = reinterpret_cast<const std::uint32_t*>(tags.data + sizeof(head));
  const Tag* listed = ends + count + 1;
  const std::size_t listed_tags = (tags.bytes - sizeof(head)) / sizeof(Tag) - (count + 1);
  if (head.slots != count || !(head.code_error >= 0 && std::isfinite(head.code_error)) || ends[0] != 0 ||
      ends[count] != listed_tags) {
    return corrupt("tags");
  }
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (ends[slot] > ends[slot + 1]) return corrupt("tags");
  }
  code_error_ = head.code_error;
  doubtful = head.doubtful != 0;
  info_.resize(count);
  keys_.reserve(count);
  std::size_t primaries = 0;
  for (Slot slot = 0; slot < count; ++slot) {
    const SlotRecord& record = records[slot];
    if ((record.live & kLive) == 0) continue;
    if (record.kind >= kRowKinds) return corrupt("kinds");
    info_[slot] = {record.key, {record.order_high, record.order_low}, static_cast<std::uint8_t>(record.kind)};
    KeyEntry& entry = keys_[record.key];
    const bool added = entry.slots[0] == kNoSlot && entry.slots[1] == kNoSlot;
    if (entry.slots[record.kind] != kNoSlot) return corrupt("slots");
    entry.slots[record.kind] = slot;
    if (added) {
      entry.tags.assign(listed + ends[slot], listed + ends[slot + 1]);
      if (std::adjacent_find(entry.tags.begin(), entry.tags.end(), std::greater_equal<Tag>()) !=
          entry.tags.end()) {
        return corrupt("tags");
      }
    }
    for (const Tag tag : entry.tags) {
      if (tag > kLargestTag) return corrupt("tags");
      SlotSet& set = tags_[tag];
      set.insert(slot);
      if (added) set.count_note(true);
    }
    live_.set(slot);
    ++live_rows_;
    if (record.live & kPrimary) {
      primary_.set(slot);
      ++primaries;
    }
  }
  return primaries == keys_.size() ? Status{} : corrupt("slots");
}

}  // namespace errata
