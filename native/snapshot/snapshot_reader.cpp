#include "snapshot/snapshot_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>

#include "snapshot/digest.hpp"

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace errata {
namespace {

std::string text_of(const char* field, std::size_t size) {
  return std::string(field, std::find(field, field + size, '\0'));
}

}  // namespace

const char* refusal_name(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "NONE";
    case Refusal::kAbsent:
      return "ABSENT";
    case Refusal::kNotASnapshot:
      return "NOT_A_SNAPSHOT";
    case Refusal::kWrongVersion:
      return "WRONG_VERSION";
    case Refusal::kWrongModel:
      return "WRONG_MODEL";
    case Refusal::kWrongStore:
      return "WRONG_STORE";
    case Refusal::kWrongShape:
      return "WRONG_SHAPE";
    case Refusal::kTruncated:
      return "TRUNCATED";
    case Refusal::kCorrupt:
      return "CORRUPT";
  }
  return "CORRUPT";
}

Snapshot::~Snapshot() {
#if !defined(_WIN32)
  if (mapped_) munmap(data_, bytes_);
#endif
}

std::shared_ptr<Snapshot> Snapshot::open(const std::string& path, const SnapshotWanted& wanted,
                                         unsigned threads, Refusal& refusal, std::string& detail) {
  std::shared_ptr<Snapshot> snapshot(new Snapshot());
  refusal = snapshot->map(path, detail);
  if (refusal == Refusal::kNone) refusal = snapshot->check(wanted, threads, detail);
  return refusal == Refusal::kNone ? snapshot : nullptr;
}

std::shared_ptr<Snapshot> Snapshot::open(std::shared_ptr<SnapshotMemory> memory, const SnapshotWanted& wanted,
                                         unsigned threads, Refusal& refusal, std::string& detail) {
  std::shared_ptr<Snapshot> snapshot(new Snapshot());
  snapshot->data_ = memory->data();
  snapshot->bytes_ = memory->size();
  snapshot->memory_ = std::move(memory);
  if (snapshot->bytes_ < kSnapshotPage) {
    detail = "shorter than a header";
    refusal = Refusal::kTruncated;
  } else {
    refusal = snapshot->check(wanted, threads, detail);
  }
  return refusal == Refusal::kNone ? snapshot : nullptr;
}

Refusal Snapshot::check(const SnapshotWanted& wanted, unsigned threads, std::string& detail) {
  Refusal refusal = check_header(wanted, detail);
  if (refusal == Refusal::kNone) refusal = check_table(detail);
  if (refusal == Refusal::kNone && !(verify(threads) && check_late_digests())) {
    refusal = Refusal::kCorrupt;
    detail = "a section's digest differs";
  }
  return refusal;
}

Refusal Snapshot::map(const std::string& path, std::string& detail) {
#if defined(_WIN32)
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    detail = std::strerror(errno);
    return Refusal::kAbsent;
  }
  _fseeki64(file, 0, SEEK_END);
  bytes_ = static_cast<std::size_t>(_ftelli64(file));
  _fseeki64(file, 0, SEEK_SET);
  if (bytes_ >= kSnapshotPage) {
    memory_ = SnapshotMemory::allocate(bytes_);
    if (memory_ != nullptr && std::fread(memory_->data(), 1, bytes_, file) == bytes_) {
      data_ = memory_->data();
    } else {
      bytes_ = 0;
    }
  }
  std::fclose(file);
#else
  const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (handle < 0 || fstat(handle, &facts) != 0) {
    detail = std::strerror(errno);
    if (handle >= 0) ::close(handle);
    return Refusal::kAbsent;
  }
  bytes_ = S_ISREG(facts.st_mode) ? static_cast<std::size_t>(facts.st_size) : 0;
  if (bytes_ >= kSnapshotPage) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, handle, 0);
    if (memory != MAP_FAILED) {
      data_ = static_cast<std::byte*>(memory);
      mapped_ = true;
    } else {
      detail = std::strerror(errno);
    }
  }
  ::close(handle);
#endif
  if (data_ != nullptr && bytes_ > 0) return Refusal::kNone;
  if (detail.empty()) detail = "shorter than a header";
  return bytes_ < kSnapshotPage ? Refusal::kTruncated : Refusal::kAbsent;
}

Refusal Snapshot::check_header(const SnapshotWanted& wanted, std::string& detail) const {
  const SnapshotHeader& header = this->header();
  if (std::memcmp(header.magic, kSnapshotMagic, sizeof(kSnapshotMagic)) != 0) {
    detail = "the first bytes are not a snapshot's";
    return Refusal::kNotASnapshot;
  }
  // Before the digest: another version may have another header.
  if (header.version != kSnapshotVersion) {
    detail =
        "version " + std::to_string(header.version & 0xffff) + "." + std::to_string(header.version >> 16);
    return Refusal::kWrongVersion;
  }
  if (header.digest != digest(kSnapshotVersion, &header, offsetof(SnapshotHeader, digest))) {
    detail = "the header's digest differs";
    return Refusal::kCorrupt;
  }
  if (header.byte_order != kByteOrderMark) {
    detail = "another byte order";
    return Refusal::kWrongShape;
  }
  if (header.file_bytes != bytes_) {
    detail = std::to_string(bytes_) + " of " + std::to_string(header.file_bytes) + " bytes";
    return bytes_ < header.file_bytes ? Refusal::kTruncated : Refusal::kCorrupt;
  }
  if (text_of(header.model, kModelBytes) != wanted.model) {
    detail = "vectors of another model";
    return Refusal::kWrongModel;
  }
  if (!wanted.store.empty() && text_of(header.store, kStoreBytes) != wanted.store) {
    detail = "notes of another store";
    return Refusal::kWrongStore;
  }
  if (header.dimensions != wanted.dimensions || header.metric != 1 ||
      header.scalar != (wanted.codes ? 2u : 1u)) {
    detail = "other dimensions, metric or codes";
    return Refusal::kWrongShape;
  }
  return Refusal::kNone;
}

Refusal Snapshot::check_table(std::string& detail) {
  const SnapshotHeader& header = this->header();
  detail = "the table of sections differs";
  const std::uint64_t offset = header.table_offset, bytes = header.table_bytes;
  if (offset % kSnapshotPage != 0 || offset > bytes_ || bytes > bytes_ - offset ||
      whole_pages(bytes) != bytes_ - offset || bytes % sizeof(SectionEntry) != 0) {
    return Refusal::kCorrupt;
  }
  if (digest(offset, data_ + offset, bytes_ - offset) != header.table_digest) return Refusal::kCorrupt;
  table_.resize(bytes / sizeof(SectionEntry));
  std::memcpy(static_cast<void*>(table_.data()), data_ + offset, bytes);
  // Sections follow one another without a gap: no byte of the file is outside some digest.
  std::uint64_t next = kSnapshotPage;
  for (const SectionEntry& entry : table_) {
    if (entry.offset != next || entry.bytes > offset - next) return Refusal::kCorrupt;
    next += whole_pages(entry.bytes);
    if (next > offset) return Refusal::kCorrupt;
  }
  if (next != offset) return Refusal::kCorrupt;
  detail.clear();
  return Refusal::kNone;
}

bool Snapshot::verify(unsigned threads) const {
  struct Piece {
    std::size_t offset, bytes;
    std::uint64_t seed, found;
  };
  std::vector<Piece> pieces;
  SectionKind digests;
  for (const SectionEntry& entry : table_) {
    if (digests_of(static_cast<SectionKind>(entry.kind), digests)) continue;
    const std::size_t whole = whole_pages(entry.bytes);
    for (std::size_t at = 0; at < whole; at += kSnapshotPiece) {
      pieces.push_back({entry.offset + at, std::min(kSnapshotPiece, whole - at), entry.offset, 0});
    }
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < pieces.size();) {
      Piece& piece = pieces[i];
      std::byte* data = data_ + piece.offset;
#if defined(MADV_POPULATE_READ)
      // One call instead of a fault every 64 KiB; kernels before 5.14 refuse, which is only slower.
      if (mapped_) (void)madvise(data, piece.bytes, MADV_POPULATE_READ);
#endif
      piece.found = digest(piece.seed, data, piece.bytes);
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (unsigned i = 1; i < threads && i < pieces.size(); ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that run share the work.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  std::size_t piece = 0;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    if (digests_of(static_cast<SectionKind>(table_[i].kind), digests)) continue;
    std::uint64_t sum = i;
    const std::size_t whole = whole_pages(table_[i].bytes);
    for (std::size_t at = 0; at < whole; at += kSnapshotPiece)
      sum = combine_digests(sum, pieces[piece++].found);
    if (sum != table_[i].digest) return false;
  }
  return true;
}

/// Of the sections that are verified later, the digests of their pieces must be what the table says.
bool Snapshot::check_late_digests() const {
  for (std::size_t i = 0; i < table_.size(); ++i) {
    SectionKind kind;
    if (!digests_of(static_cast<SectionKind>(table_[i].kind), kind)) continue;
    LateSection late;
    if (!late_section(static_cast<SectionKind>(table_[i].kind), table_[i].partition, late)) return false;
    std::uint64_t sum = i;
    for (std::size_t piece = 0; piece < late.pieces; ++piece) {
      std::uint64_t one;
      std::memcpy(&one, late.digests + piece * sizeof(one), sizeof(one));
      sum = combine_digests(sum, one);
    }
    if (sum != table_[i].digest) return false;
  }
  return true;
}

const SectionEntry* Snapshot::entry(SectionKind kind, std::uint32_t partition) const {
  for (const SectionEntry& entry : table_) {
    if (entry.kind == static_cast<std::uint32_t>(kind) && entry.partition == partition) return &entry;
  }
  return nullptr;
}

bool Snapshot::section(SectionKind kind, std::uint32_t partition, SectionView& view) const {
  const SectionEntry* found = entry(kind, partition);
  if (found == nullptr) return false;
  view = {data_ + found->offset, static_cast<std::size_t>(found->bytes)};
  return true;
}

bool Snapshot::late_section(SectionKind kind, std::uint32_t partition, LateSection& section) const {
  SectionKind kind_of_digests;
  SectionView listed;
  const SectionEntry* found = entry(kind, partition);
  std::uint64_t piece_bytes = 0;
  if (found == nullptr || !digests_of(kind, kind_of_digests) ||
      !this->section(kind_of_digests, partition, listed) || listed.bytes < sizeof(piece_bytes)) {
    return false;
  }
  std::memcpy(&piece_bytes, listed.data, sizeof(piece_bytes));
  if (piece_bytes == 0 || piece_bytes % sizeof(std::uint64_t) != 0) return false;
  const std::uint64_t pieces = (found->bytes + piece_bytes - 1) / piece_bytes;
  if (listed.bytes != (1 + pieces) * sizeof(std::uint64_t)) return false;
  section.view = {data_ + found->offset, static_cast<std::size_t>(found->bytes)};
  section.piece_bytes = static_cast<std::size_t>(piece_bytes);
  section.pieces = static_cast<std::size_t>(pieces);
  section.whole_bytes = static_cast<std::size_t>(whole_pages(found->bytes));
  section.digests = listed.data + sizeof(piece_bytes);
  section.seed = found->offset;
  return true;
}

bool LateSection::sound(std::size_t piece) const {
  const std::size_t begin = piece * piece_bytes;
  const std::size_t end = piece + 1 == pieces ? whole_bytes : begin + piece_bytes;
  std::uint64_t expected;
  std::memcpy(&expected, digests + piece * sizeof(expected), sizeof(expected));
  return digest(seed, view.data + begin, end - begin) == expected;
}

bool LateSection::all_sound() const {
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    if (!sound(piece)) return false;
  }
  return true;
}

}  // namespace errata
