#include "snapshot/snapshot_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "snapshot/digest.hpp"

namespace errata {
namespace {

void copy_text(char* target, std::size_t size, const std::string& text) {
  std::memcpy(target, text.data(), text.size() < size ? text.size() : size);
}

}  // namespace

SnapshotWriter::SnapshotWriter(SnapshotSink& sink, SnapshotFacts facts)
    : sink_(sink), facts_(std::move(facts)) {}

Status SnapshotWriter::open() {
  const std::uint32_t mark = kByteOrderMark;
  if (*reinterpret_cast<const char*>(&mark) != 4) {
    return Status::fail(Code::kInvalidInput, "Expected a little-endian machine for snapshots");
  }
  if (facts_.model.size() > kModelBytes || facts_.store.size() > kStoreBytes) {
    return Status::fail(Code::kInvalidInput, "Expected shorter names of model and store");
  }
  Status status = sink_.open();
  const std::vector<char> page(kSnapshotPage);
  if (status.ok()) status = sink_.append(page.data(), page.size());
  piece_.reserve(kSnapshotPiece);
  return status;
}

void SnapshotWriter::begin_section(SectionKind kind, std::uint32_t partition, std::size_t piece_bytes) {
  piece_bytes_ = piece_bytes;
  digests_.clear();
  // The seed is the section's place, so that two sections cannot be exchanged.
  table_.push_back({static_cast<std::uint32_t>(kind), partition, offset_, 0, table_.size()});
}

Status SnapshotWriter::append(const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  table_.back().bytes += bytes;
  while (bytes > 0) {
    // A full piece waits for what comes after it: the last one takes the padding.
    if (piece_.size() == piece_bytes_) {
      Status status = flush();
      if (!status.ok()) return status;
    }
    const std::size_t take = std::min(bytes, piece_bytes_ - piece_.size());
    piece_.insert(piece_.end(), at, at + take);
    at += take;
    bytes -= take;
  }
  return {};
}

Status SnapshotWriter::flush() {
  if (piece_.empty()) return {};
  SectionEntry& entry = table_.back();
  digests_.push_back(digest(entry.offset, piece_.data(), piece_.size()));
  entry.digest = combine_digests(entry.digest, digests_.back());
  Status status = sink_.append(piece_.data(), piece_.size());
  if (!status.ok()) return status;
  offset_ += piece_.size();
  piece_.clear();
  return {};
}

Status SnapshotWriter::end_section() {
  const SectionEntry entry = table_.back();
  piece_.resize(piece_.size() + (whole_pages(entry.bytes) - entry.bytes));
  Status status = flush();
  SectionKind kind;
  if (!status.ok() || !digests_of(static_cast<SectionKind>(entry.kind), kind)) return status;
  const std::uint64_t head = piece_bytes_;
  const std::vector<std::uint64_t> digests = std::move(digests_);
  begin_section(kind, entry.partition);
  status = append(&head, sizeof(head));
  if (status.ok()) status = append(digests.data(), digests.size() * sizeof(digests[0]));
  return status.ok() ? end_section() : status;
}

void SnapshotWriter::count_partition(std::uint64_t rows, std::uint64_t keys) {
  ++partitions_;
  rows_ += rows;
  keys_ += keys;
}

Status SnapshotWriter::finish(std::uint64_t& bytes) {
  SnapshotHeader header;
  std::memset(static_cast<void*>(&header), 0, sizeof(header));
  std::memcpy(header.magic, kSnapshotMagic, sizeof(kSnapshotMagic));
  header.version = kSnapshotVersion;
  header.byte_order = kByteOrderMark;
  header.table_offset = offset_;
  header.table_bytes = table_.size() * sizeof(SectionEntry);
  std::vector<char> table(whole_pages(header.table_bytes));
  std::memcpy(table.data(), table_.data(), header.table_bytes);
  header.table_digest = digest(offset_, table.data(), table.size());
  header.file_bytes = offset_ + table.size();
  header.revision = facts_.revision;
  header.dimensions = facts_.dimensions;
  header.metric = 1;
  header.scalar = facts_.codes ? 2 : 1;
  header.partitions = partitions_;
  header.rows = rows_;
  header.keys = keys_;
  header.created_ms = facts_.created_ms;
  copy_text(header.model, kModelBytes, facts_.model);
  copy_text(header.store, kStoreBytes, facts_.store);
  header.digest = digest(kSnapshotVersion, &header, offsetof(SnapshotHeader, digest));

  Status status = sink_.append(table.data(), table.size());
  if (status.ok()) status = sink_.replace_start(&header, sizeof(header));
  if (status.ok()) status = sink_.finish();
  bytes = header.file_bytes;
  return status;
}

}  // namespace errata
