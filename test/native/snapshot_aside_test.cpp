#include "snapshot_fixture.hpp"

using namespace errata;
using namespace errata::test;

// Rows that the graph does not find: after a start they are compared beside it as before, without an audit,
// which takes minutes at a million rows.

namespace {

constexpr std::size_t kRows = 2000;

/// Near-equal rows: a graph so thin loses many.
std::vector<float> dense_rows(std::mt19937_64& random) {
  constexpr std::size_t kClusters = 10;
  const std::vector<float> centres = random_units(kClusters, kDimensions, 0, random);
  std::normal_distribution<float> noise(0, 0.01f);
  std::vector<float> rows(kRows * kDimensions);
  for (std::size_t i = 0; i < kRows; ++i) {
    float* row = &rows[i * kDimensions];
    for (std::size_t d = 0; d < kDimensions; ++d)
      row[d] = centres[i % kClusters * kDimensions + d] + noise(random);
    CHECK(simd::normalize_f32(kernels(), row, kDimensions));
  }
  return rows;
}

PartitionOptions thin_options(bool late) {
  PartitionOptions made = options(500, late);
  made.graph = {3, 8};
  made.ef_search = 12;
  return made;
}

/// Audited, so that all that can be found a place has one.
void fill_thin(Partition& partition, const std::vector<float>& rows) {
  CHECK(partition.put(plain_batch(0, kRows, rows.data(), kDimensions)).ok());
  partition.settle();
  AuditReport report;
  CHECK(partition.audit(report).ok());
}

std::size_t missed(const Partition& partition, const std::vector<float>& rows) {
  std::size_t count = 0;
  for (Key key = 0; key < kRows; key += 7) {
    Answer answer;
    CHECK(partition.search({&rows[key * kDimensions], 10, 0, {}}, answer).ok());
    count += answer.hits.empty() || answer.hits[0].key != key;
  }
  return count;
}

}  // namespace

ERRATA_TEST(snapshot_lists_what_its_graph_does_not_find) {
  std::mt19937_64 random(seed());
  const std::vector<float> rows = dense_rows(random);
  Partition partition(thin_options(false), kernels());
  fill_thin(partition, rows);
  const PartitionStats before = partition.stats();
  std::printf("  %zu of %zu aside\n", before.kept_aside, kRows);
  CHECK(before.kept_aside > 100 && missed(partition, rows) == 0);
  const TemporaryFile file;
  CHECK(save(partition, file.path).ok());
  for (const bool late : {false, true}) {
    Refusal refusal;
    Partition restored(thin_options(late), kernels());
    CHECK(restored.restore(open(file.path, refusal), 0).ok());
    CHECK(restored.verified().ok());
    restored.settle();
    const PartitionStats after = restored.stats();
    CHECK(after.has_graph && after.audits == 0 && after.kept_aside == before.kept_aside);
    CHECK(missed(restored, rows) == 0);
    // Removed and written anew, in their own slots or others': none is left in the list that is gone.
    std::vector<Key> gone;
    for (Key key = 0; key < kRows; key += 2) gone.push_back(key);
    std::size_t removed = 0;
    CHECK(restored.remove(gone.data(), gone.size(), removed).ok() && removed == gone.size());
    restored.settle();
    CHECK(restored.put(plain_batch(0, kRows, rows.data(), kDimensions)).ok());
    restored.settle();
    AuditReport report;
    CHECK(restored.audit(report).ok());
    CHECK(missed(restored, rows) == 0);
  }
}

ERRATA_TEST(snapshot_whose_list_names_no_live_row_is_refused) {
  std::mt19937_64 random(seed());
  const std::vector<float> rows = dense_rows(random);
  Partition partition(thin_options(false), kernels());
  fill_thin(partition, rows);
  // As a faulty program would write it, with right digests.
  for (const std::vector<Slot>& wrong :
       {std::vector<Slot>{kRows}, std::vector<Slot>{5, 5}, std::vector<Slot>{9, 4}}) {
    const TemporaryFile file;
    FileSink sink(file.path);
    CHECK(partition.pin(true).ok());
    SnapshotWriter writer(sink, {7, kDimensions, true, 1, "model", "store"});
    CHECK(writer.open().ok());
    writer.begin_section(SectionKind::kDirectory, 0);
    CHECK(writer.append("directory", 9).ok() && writer.end_section().ok());
    writer.begin_section(SectionKind::kAside, 0);
    CHECK(writer.append(wrong.data(), wrong.size() * sizeof(Slot)).ok() && writer.end_section().ok());
    CHECK(partition.copy_links().ok() && partition.save(writer, 0).ok());
    partition.unpin();
    std::uint64_t bytes = 0;
    CHECK(writer.finish(bytes).ok());
    Refusal refusal;
    const std::shared_ptr<Snapshot> snapshot = open(file.path, refusal);
    CHECK_MESSAGE(snapshot != nullptr, refusal_name(refusal));
    Partition restored(thin_options(false), kernels());
    const Status status = restored.restore(snapshot, 0);
    CHECK_MESSAGE(status.code == Code::kCorrupt, status.message);
    CHECK(restored.stats().rows == 0 && restored.stats().kept_aside == 0);
  }
}
