#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.hpp"
#include "snapshot/format.hpp"
#include "snapshot/snapshot_sink.hpp"

namespace errata {

struct SnapshotFacts {
  std::uint64_t revision = 0;
  std::uint32_t dimensions = 0;
  bool codes = true;
  std::uint64_t created_ms = 0;
  std::string model;
  std::string store;
};

/// Writes a snapshot into a sink, which must outlive it. Not thread-safe.
class SnapshotWriter {
 public:
  SnapshotWriter(SnapshotSink& sink, SnapshotFacts facts);
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  Status open();
  /// Digests are of pieces of `piece_bytes`, a multiple of 8; the last one takes the padding too. Rows, codes
  /// and graphs get a section of their pieces' digests after them.
  void begin_section(SectionKind kind, std::uint32_t partition, std::size_t piece_bytes = kSnapshotPiece);
  Status append(const void* data, std::size_t bytes);
  Status end_section();
  void count_partition(std::uint64_t rows, std::uint64_t keys);
  /// Completes the sink. `bytes` is the snapshot's size.
  Status finish(std::uint64_t& bytes);

 private:
  Status flush();

  SnapshotSink& sink_;
  SnapshotFacts facts_;
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
