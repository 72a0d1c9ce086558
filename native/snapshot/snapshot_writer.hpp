#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "common/status.hpp"
#include "snapshot/format.hpp"

namespace errata {

struct SnapshotFacts {
  std::uint64_t revision = 0;
  std::uint32_t dimensions = 0;
  bool codes = true;
  std::uint64_t created_ms = 0;
  std::string model;
  std::string store;
};

/// Writes `path` whole or not at all: beside it first, then fsync, rename, fsync of the folder. Not
/// thread-safe. A writer that is destroyed before `finish()` leaves nothing behind.
class SnapshotWriter {
 public:
  SnapshotWriter(std::string path, SnapshotFacts facts);
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  /// UNAVAILABLE-like trouble with the disk comes as INVALID_INPUT with the system's reason.
  Status open();
  /// Digests are of pieces of `piece_bytes`, a multiple of 8; the last one takes the padding too. Rows, codes
  /// and graphs get a section of their pieces' digests after them.
  void begin_section(SectionKind kind, std::uint32_t partition, std::size_t piece_bytes = kSnapshotPiece);
  Status append(const void* data, std::size_t bytes);
  Status end_section();
  void count_partition(std::uint64_t rows, std::uint64_t keys);
  /// Makes the file the one at `path`. `bytes` is its size.
  Status finish(std::uint64_t& bytes);

 private:
  Status flush();
  Status trouble(const char* what) const;

  const std::string path_;
  const std::string beside_;
  SnapshotFacts facts_;
  std::FILE* file_ = nullptr;
  std::vector<SectionEntry> table_;
  std::vector<char> piece_;
  std::size_t piece_bytes_ = kSnapshotPiece;
  std::vector<std::uint64_t> digests_;
  std::uint64_t offset_ = kSnapshotPage;  // where the piece goes
  std::uint32_t partitions_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t keys_ = 0;
};

}  // namespace errata
