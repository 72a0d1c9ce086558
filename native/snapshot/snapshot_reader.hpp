#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/status.hpp"
#include "snapshot/format.hpp"
#include "snapshot/snapshot_memory.hpp"

namespace errata {

/// Why a file was not taken. The names are part of the interface (schema/snapshot-v1.md).
enum class Refusal {
  kNone,
  kAbsent,
  kNotASnapshot,
  kWrongVersion,
  kWrongModel,
  kWrongStore,
  kWrongShape,
  kTruncated,
  kCorrupt,
};
const char* refusal_name(Refusal refusal);

struct SnapshotWanted {
  std::uint32_t dimensions = 0;
  bool codes = true;
  std::string model;
  std::string store;  // empty: any
};

/// The bytes of a section; they live as long as the snapshot.
struct SectionView {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// A section that is verified piece by piece, as each is first used. Lives as long as the snapshot.
/// Thread-safe.
struct LateSection {
  SectionView view;
  std::size_t piece_bytes = 0;
  std::size_t pieces = 0;
  std::size_t whole_bytes = 0;  // with padding, which the last piece takes
  const std::byte* digests = nullptr;
  std::uint64_t seed = 0;

  bool sound(std::size_t piece) const;
  bool all_sound() const;
};

/// A snapshot's file, mapped and verified but for rows, codes and graphs, whose pieces are verified by those
/// who use them, before they do. The mapping is private: what partitions write into it stays in this process.
/// The file must not be changed in place meanwhile (writers rename over it, which is harmless).
class Snapshot : public std::enable_shared_from_this<Snapshot> {
 public:
  /// Maps and verifies with up to `threads` threads. `opened` is null, and `refusal` and `detail` say why,
  /// where the file is not what was wanted.
  static std::shared_ptr<Snapshot> open(const std::string& path, const SnapshotWanted& wanted,
                                        unsigned threads, Refusal& refusal, std::string& detail);
  /// The same of a snapshot that lies in memory, and is this one's from now on: partitions write into it.
  static std::shared_ptr<Snapshot> open(std::shared_ptr<SnapshotMemory> memory, const SnapshotWanted& wanted,
                                        unsigned threads, Refusal& refusal, std::string& detail);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const SnapshotHeader& header() const { return *reinterpret_cast<const SnapshotHeader*>(data_); }
  /// Rows, codes or graph. False where there is no such section.
  bool late_section(SectionKind kind, std::uint32_t partition, LateSection& section) const;
  /// The bytes, whether they are verified or not. False where there is no such section.
  bool section(SectionKind kind, std::uint32_t partition, SectionView& view) const;

 private:
  Snapshot() = default;
  Refusal map(const std::string& path, std::string& detail);
  Refusal check(const SnapshotWanted& wanted, unsigned threads, std::string& detail);
  Refusal check_header(const SnapshotWanted& wanted, std::string& detail) const;
  Refusal check_table(std::string& detail);
  bool verify(unsigned threads) const;
  bool check_late_digests() const;
  const SectionEntry* entry(SectionKind kind, std::uint32_t partition) const;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool mapped_ = false;
  std::shared_ptr<SnapshotMemory> memory_;  // where it is not mapped
  std::vector<SectionEntry> table_;
};

}  // namespace errata
