#pragma once

#include <cstddef>
#include <cstdint>

namespace errata {

// The file's layout: see schema/snapshot-v1.md. All numbers are little-endian; the writer refuses other
// machines.

constexpr char kSnapshotMagic[8] = {'E', 'R', 'R', 'A', 'T', 'A', 'I', 'X'};
/// Major in the low half, minor in the high one. 1.1: large sections have their digests in sections of their
/// own. 1.2: rows that the graph does not find are listed.
constexpr std::uint32_t kSnapshotVersion = 0x0002'0001;
constexpr std::uint32_t kByteOrderMark = 0x0102'0304;
constexpr std::size_t kSnapshotPage = 4096;
/// Sections are digested in pieces, so that several threads can verify a large one.
constexpr std::size_t kSnapshotPiece = std::size_t{4} << 20;
constexpr std::size_t kModelBytes = 512;
constexpr std::size_t kStoreBytes = 256;

enum class SectionKind : std::uint32_t {
  kDirectory = 1,  // the adapter's; opaque here
  kRows = 2,
  kCodes = 3,
  kSlots = 4,
  kTags = 5,
  kGraph = 6,
  // Digests of the pieces of rows, codes and graph, so that each piece can be verified at its first use.
  kRowDigests = 7,
  kCodeDigests = 8,
  kGraphDigests = 9,
  kAside = 10,  // slots of live rows that the graph does not find, where there are any
};

/// The section that holds the digests of this one's pieces; of a section that is verified at the opening,
/// none.
inline bool digests_of(SectionKind kind, SectionKind& digests) {
  switch (kind) {
    case SectionKind::kRows:
      digests = SectionKind::kRowDigests;
      return true;
    case SectionKind::kCodes:
      digests = SectionKind::kCodeDigests;
      return true;
    case SectionKind::kGraph:
      digests = SectionKind::kGraphDigests;
      return true;
    default:
      return false;
  }
}

struct SnapshotHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint64_t file_bytes;
  std::uint64_t table_offset;
  std::uint64_t table_bytes;  // without padding
  std::uint64_t table_digest;
  std::uint64_t revision;
  std::uint32_t dimensions;
  std::uint32_t metric;  // 1: dot product of unit vectors
  std::uint32_t scalar;  // 1: float32; 2: float32 and int8 codes
  std::uint32_t partitions;
  std::uint64_t rows;
  std::uint64_t keys;
  std::uint64_t created_ms;  // since 1970
  char model[kModelBytes];   // UTF-8, padded with zeros
  char store[kStoreBytes];
  char unused[kSnapshotPage - 104 - kModelBytes - kStoreBytes];
  std::uint64_t digest;  // of all before it
};
static_assert(sizeof(SnapshotHeader) == kSnapshotPage, "the header is one page");

struct SectionEntry {
  std::uint32_t kind;
  std::uint32_t partition;
  std::uint64_t offset;  // a multiple of the page
  std::uint64_t bytes;   // without the zeros up to the next page
  std::uint64_t digest;  // of whole pages, zeros included
};
static_assert(sizeof(SectionEntry) == 32, "no padding");

/// One slot of a partition, in the file and in memory; in the file a slot that is not live is all zeros.
struct SlotRecord {
  std::uint64_t key;
  std::uint64_t order_high;
  std::uint64_t order_low;
  std::uint32_t kind;
  std::uint32_t flags;  // of the file only: 1 live, 2 the note's first row
};
static_assert(sizeof(SlotRecord) == 32, "no padding");

/// Heads the tags section: then `slots + 1` ends of tag lists (u32), then the tags. The list of a note is
/// with its first slot; other slots have none.
struct TagsHead {
  std::uint64_t slots;
  double code_error;       // longest loss of any row's codes
  std::uint64_t doubtful;  // 1: the graph may not find every row, so an audit is due
};

inline std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kSnapshotPage - 1) / kSnapshotPage * kSnapshotPage;
}

}  // namespace errata
