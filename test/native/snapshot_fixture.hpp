#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "harness.hpp"
#include "naive.hpp"
#include "snapshot/digest.hpp"
#include "snapshot/snapshot_reader.hpp"
#include "snapshot/snapshot_writer.hpp"

/// What the tests of snapshots share: a file of one's own, filling, saving and opening, and comparing two
/// partitions.
namespace errata::test {

constexpr std::size_t kDimensions = 20;

/// `late`: whatever is restored is verified as it is used, however small.
inline PartitionOptions options(std::size_t graph_threshold, bool late = false) {
  PartitionOptions made;
  made.dimensions = kDimensions;
  made.graph_threshold = graph_threshold;
  if (late) made.late_bytes = 1;
  return made;
}

/// A file of its own, removed at the end.
struct TemporaryFile {
  const std::string path;

  TemporaryFile() : path(made()) {}
  ~TemporaryFile() { std::remove(path.c_str()); }
  static std::string made() {
    static int number = 0;
    const char* folder = std::getenv("TMPDIR");
    return std::string(folder ? folder : "/tmp") + "/errata-snapshot-" +
           std::to_string(std::random_device{}()) + "-" + std::to_string(number++);
  }
  std::vector<char> read() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::vector<char>& bytes) const {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
};

const SnapshotWanted kWanted{kDimensions, true, "model", "store"};

inline std::shared_ptr<Snapshot> open(const std::string& path, Refusal& refusal,
                                      const SnapshotWanted& wanted = kWanted) {
  std::string detail;
  return Snapshot::open(path, wanted, 2, refusal, detail);
}

/// Keys with one or two rows, tags and gaps.
inline void fill(Partition& partition, std::size_t n, std::mt19937_64& random) {
  PutBatch batch;
  batch.row_begin.push_back(0);
  batch.tag_begin.push_back(0);
  for (Key key = 0; key < n; ++key) {
    batch.keys.push_back(key);
    batch.orders.push_back({key % 5, key});
    const std::size_t rows = 1 + key % 2;
    const std::vector<float> vectors = random_units(rows, kDimensions, 0, random);
    batch.vectors.insert(batch.vectors.end(), vectors.begin(), vectors.end());
    for (std::size_t kind = 0; kind < rows; ++kind) {
      batch.kinds.push_back(static_cast<std::uint8_t>(rows == 1 ? key / 2 % 2 : kind));
    }
    batch.row_begin.push_back(static_cast<std::uint32_t>(batch.kinds.size()));
    for (Tag tag = 1; tag < 4; ++tag) {
      if (key % (tag + 1) == 0) batch.tags.push_back(tag);
    }
    batch.tag_begin.push_back(static_cast<std::uint32_t>(batch.tags.size()));
  }
  CHECK(partition.put(batch).ok());
  std::vector<Key> gone;
  for (Key key = 3; key < n; key += 23) gone.push_back(key);
  std::size_t removed = 0;
  CHECK(partition.remove(gone.data(), gone.size(), removed).ok());
  partition.settle();
}

/// Of a pinned partition.
inline Status save_pinned(Partition& partition, SnapshotSink& sink, std::uint32_t dimensions = kDimensions) {
  SnapshotWriter writer(sink, {7, dimensions, true, 1'700'000'000'000, "model", "store"});
  Status status = writer.open();
  if (!status.ok()) return status;
  writer.begin_section(SectionKind::kDirectory, 0);
  status = writer.append("directory", 9);
  if (status.ok()) status = writer.end_section();
  if (status.ok()) status = partition.copy_links();
  if (status.ok()) status = partition.save(writer, 0);
  std::uint64_t bytes = 0;
  return status.ok() ? writer.finish(bytes) : status;
}

inline Status save(Partition& partition, SnapshotSink& sink) {
  Status status = partition.pin(true);
  if (!status.ok()) return status;
  status = save_pinned(partition, sink);
  partition.unpin();
  return status;
}

inline Status save(Partition& partition, const std::string& path) {
  FileSink file(path);
  return save(partition, file);
}

inline void check_equal(const Partition& a, const Partition& b, std::mt19937_64& random) {
  const std::vector<float> queries = random_units(20, kDimensions, 0, random);
  for (std::size_t i = 0; i < 20; ++i) {
    for (const Filter& filter : {Filter{}, Filter{1}, Filter{2, 3}, Filter{1, kFilterNot}}) {
      Query query;
      query.vector = &queries[i * kDimensions];
      query.k = 10;
      query.filter = filter;
      Answer first, second;
      CHECK(a.search(query, first).ok() && b.search(query, second).ok());
      CHECK(first.hits.size() == second.hits.size());
      for (std::size_t h = 0; h < first.hits.size() && h < second.hits.size(); ++h) {
        CHECK(first.hits[h].key == second.hits[h].key && first.hits[h].score == second.hits[h].score &&
              first.hits[h].kind == second.hits[h].kind);
      }
    }
  }
}

}  // namespace errata::test
