#include "snapshot/snapshot_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "snapshot/digest.hpp"

#if defined(_WIN32)
#include <io.h>
#include <process.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace errata {
namespace {

bool sync_file(std::FILE* file) {
  if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
  return _commit(_fileno(file)) == 0;
#else
  return fsync(fileno(file)) == 0;
#endif
}

/// So that the rename survives a power cut. Windows has no such call; its rename is journalled.
bool sync_folder(const std::string& path) {
#if defined(_WIN32)
  (void)path;
  return true;
#else
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (handle < 0) return false;
  const bool synced = fsync(handle) == 0;
  ::close(handle);
  return synced;
#endif
}

/// A name that no other writer has, in this process or another.
std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> number{0};
#if defined(_WIN32)
  const int process = _getpid();
#else
  const int process = static_cast<int>(getpid());
#endif
  return path + "." + std::to_string(process) + "-" + std::to_string(++number) + ".new";
}

/// For the owner's eyes only, as far as the system has such a notion.
std::FILE* create_file(const std::string& path) {
#if defined(_WIN32)
  return std::fopen(path.c_str(), "wb");
#else
  const int handle = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return handle < 0 ? nullptr : fdopen(handle, "wb");
#endif
}

void copy_text(char* target, std::size_t size, const std::string& text) {
  std::memcpy(target, text.data(), text.size() < size ? text.size() : size);
}

}  // namespace

SnapshotWriter::SnapshotWriter(std::string path, SnapshotFacts facts)
    : path_(std::move(path)), beside_(name_beside(path_)), facts_(std::move(facts)) {}

SnapshotWriter::~SnapshotWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(beside_.c_str());
}

Status SnapshotWriter::trouble(const char* what) const {
  return Status::fail(Code::kInvalidInput, std::string("Expected to ") + what +
                                               " the snapshot's file, received: " + std::strerror(errno));
}

Status SnapshotWriter::open() {
  const std::uint32_t mark = kByteOrderMark;
  if (*reinterpret_cast<const char*>(&mark) != 4) {
    return Status::fail(Code::kInvalidInput, "Expected a little-endian machine for snapshots");
  }
  if (facts_.model.size() > kModelBytes || facts_.store.size() > kStoreBytes) {
    return Status::fail(Code::kInvalidInput, "Expected shorter names of model and store");
  }
  file_ = create_file(beside_);
  if (file_ == nullptr) return trouble("create");
  std::setvbuf(file_, nullptr, _IOFBF, kSnapshotPiece);
  const std::vector<char> page(kSnapshotPage);
  if (std::fwrite(page.data(), 1, page.size(), file_) != page.size()) return trouble("write");
  piece_.reserve(kSnapshotPiece);
  return {};
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
  if (std::fwrite(piece_.data(), 1, piece_.size(), file_) != piece_.size()) return trouble("write");
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

  if (std::fwrite(table.data(), 1, table.size(), file_) != table.size()) return trouble("write");
  if (std::fseek(file_, 0, SEEK_SET) != 0) return trouble("write");
  if (std::fwrite(&header, 1, sizeof(header), file_) != sizeof(header)) return trouble("write");
  if (!sync_file(file_)) return trouble("flush");
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed || std::rename(beside_.c_str(), path_.c_str()) != 0) {
    Status status = trouble("move");
    std::remove(beside_.c_str());
    return status;
  }
  if (!sync_folder(path_)) return trouble("record the name of");
  bytes = header.file_bytes;
  return {};
}

}  // namespace errata
