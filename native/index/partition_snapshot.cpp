#include <algorithm>
#include <cstring>
#include <mutex>

#include "index/partition.hpp"
#include "snapshot/snapshot_writer.hpp"

// A partition's part of a snapshot, written. Reading it is in partition_restore.cpp.

namespace errata {
namespace {

constexpr std::uint32_t kLive = 1;
constexpr std::uint32_t kPrimary = 2;

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

}  // namespace

Status Partition::save(SnapshotWriter& writer, std::uint32_t number, bool stops_background) {
  // What is not verified yet must not be written with new digests.
  Status status = verified();
  if (!status.ok()) return status;
  // Without `lock_`, which would hold searches up: all who change what is read here wait or are at rest.
  std::lock_guard<std::mutex> waits(writers_);
  if (!(status = closed_status()).ok()) return status;
  if (stops_background) stop_tending();
  std::lock_guard<std::mutex> no_audit(audits_mutex_);
  if (tending_.load()) {
    return Status::fail(Code::kQueueFull, "Expected an index at rest, received one that builds or compacts");
  }
  const std::size_t slots = info_.size();
  const std::size_t row_bytes = rows_.stride() * sizeof(float);
  writer.begin_section(SectionKind::kRows, number, rows_.piece_bytes());
  status = append_chunks(writer, rows_.blocks(), live_, slots, [row_bytes](std::byte* chunk, std::size_t i) {
    std::memset(chunk + i * row_bytes, 0, row_bytes);
  });
  if (status.ok()) status = writer.end_section();
  if (!status.ok()) return status;
  if (codes_) {
    writer.begin_section(SectionKind::kCodes, number, codes_->blocks().chunk_bytes());
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

}  // namespace errata
