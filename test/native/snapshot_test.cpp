#include "snapshot_fixture.hpp"

using namespace errata;
using namespace errata::test;

namespace {

void round_trip(std::size_t n, std::size_t graph_threshold, bool late = false) {
  std::mt19937_64 random(seed());
  Partition partition(options(graph_threshold), kernels());
  fill(partition, n, random);
  const TemporaryFile file;
  CHECK(save(partition, file.path).ok());
  Refusal refusal;
  std::shared_ptr<Snapshot> snapshot = open(file.path, refusal);
  CHECK_MESSAGE(snapshot != nullptr, refusal_name(refusal));
  if (!snapshot) return;
  CHECK(snapshot->header().revision == 7 && snapshot->header().partitions == 1);
  Partition restored(options(graph_threshold, late), kernels());
  Status status = restored.restore(snapshot, 0);
  CHECK_MESSAGE(status.ok(), status.message);
  snapshot.reset();  // the partition keeps what it needs
  // Before the background is done, too: as many rows are scanned then, so the answers are exact.
  if (graph_threshold > n) check_equal(partition, restored, random);
  CHECK(restored.verified().ok());
  restored.settle();
  const PartitionStats before = partition.stats(), after = restored.stats();
  CHECK(before.keys == after.keys && before.rows == after.rows && before.has_graph == after.has_graph);
  check_equal(partition, restored, random);
  // Both go on alike: replaced, added and removed notes.
  std::mt19937_64 one(5), other(5);
  fill(partition, n / 2, one);
  fill(restored, n / 2, other);
  check_equal(partition, restored, random);
  CHECK(!restored.restore(nullptr, 0).ok());
}

}  // namespace

ERRATA_TEST(snapshot_gives_back_a_scanned_partition) {
  round_trip(700, 1'000'000);
}

ERRATA_TEST(snapshot_gives_back_a_graph) {
  // So small a beam is exhaustive only through the planner's scan; equal graphs give equal answers.
  round_trip(700, 500);
}

ERRATA_TEST(snapshot_stays_in_the_mapped_file_when_large) {
  round_trip(90'000, 1'000'000);  // 11 MB of rows
}

ERRATA_TEST(snapshot_verified_as_it_is_used_gives_back_the_same) {
  round_trip(700, 1'000'000, true);
  round_trip(700, 500, true);
}

ERRATA_TEST(snapshot_takes_writes_before_it_is_verified) {
  std::mt19937_64 random(seed());
  for (std::size_t round = 0; round < 20; ++round) {
    Partition partition(options(200), kernels());
    fill(partition, 400, random);
    const TemporaryFile file;
    CHECK(save(partition, file.path).ok());
    Refusal refusal;
    Partition restored(options(200, true), kernels());
    CHECK(restored.restore(open(file.path, refusal), 0).ok());
    // Replaced, added and removed while the background verifies and loads the graph.
    std::mt19937_64 one(round), other(round);
    fill(restored, 300, one);
    fill(partition, 300, other);
    const Key gone[] = {5, 250, 399};
    std::size_t removed = 0, also = 0;
    CHECK(restored.remove(gone, 3, removed).ok() && partition.remove(gone, 3, also).ok() && removed == also);
    CHECK(restored.verified().ok());
    restored.settle();
    const PartitionStats before = partition.stats(), after = restored.stats();
    CHECK(before.keys == after.keys && before.rows == after.rows && after.has_graph);
    // Graphs of another history: exact answers are the measure, and the audit that every row is found.
    const std::vector<float> queries = random_units(8, kDimensions, 0, random);
    std::vector<Answer> first, second;
    Query query;
    query.k = 20;
    CHECK(partition.search_batch(queries.data(), 8, query, first).ok());
    CHECK(restored.search_batch(queries.data(), 8, query, second).ok());
    for (std::size_t i = 0; i < 8 && second.size() == 8; ++i) CHECK(same(second[i].hits, first[i].hits));
    AuditReport report;
    CHECK(restored.audit(report).ok());
    // What is saved again is whole.
    CHECK(save(restored, file.path).ok());
    Partition again(options(200), kernels());
    CHECK(again.restore(open(file.path, refusal), 0).ok());
    CHECK(again.stats().rows == after.rows);
  }
}

ERRATA_TEST(snapshot_leaves_no_erased_vector_on_disk) {
  std::mt19937_64 random(seed());
  const std::vector<float> rows = random_units(3, kDimensions, 0, random);
  Partition partition(options(1'000'000), kernels());
  CHECK(partition.put(plain_batch(0, 3, rows.data(), kDimensions)).ok());
  const Key gone = 1;
  std::size_t removed = 0;
  CHECK(partition.remove(&gone, 1, removed).ok());
  const TemporaryFile file;
  CHECK(save(partition, file.path).ok());
  const std::vector<char> bytes = file.read();
  const auto holds = [&](std::size_t row) {
    const char* data = reinterpret_cast<const char*>(&rows[row * kDimensions]);
    return std::search(bytes.begin(), bytes.end(), data, data + kDimensions * sizeof(float)) != bytes.end();
  };
  CHECK(holds(0) && !holds(1) && holds(2));
}

ERRATA_TEST(a_snapshot_in_memory_is_the_same_bytes_and_opens_as_well) {
  std::mt19937_64 random(seed());
  const TemporaryFile file;
  Partition original(options(500), kernels());
  fill(original, 900, random);
  CHECK(save(original, file.path).ok());
  MemorySink sink;
  CHECK(save(original, sink).ok());
  const std::vector<char> bytes = file.read();
  const std::size_t size = sink.size();
  char* const kept = static_cast<char*>(sink.release());
  CHECK(size == bytes.size() && std::equal(bytes.begin(), bytes.end(), kept) && sink.size() == 0);

  const auto opened = [&](std::size_t length, Refusal& refusal) {
    auto memory = SnapshotMemory::allocate(length);
    std::memcpy(memory->data(), kept, length);
    std::string detail;
    return Snapshot::open(std::move(memory), kWanted, 2, refusal, detail);
  };
  Refusal refusal = Refusal::kNone;
  for (const bool late : {false, true}) {
    Partition restored(options(500, late), kernels());
    CHECK(restored.restore(opened(size, refusal), 0).ok());
    check_equal(original, restored, random);
    CHECK(restored.verified().ok());
  }
  CHECK(opened(size - 1, refusal) == nullptr && refusal == Refusal::kTruncated);
  CHECK(opened(16, refusal) == nullptr && refusal == Refusal::kTruncated);
  kept[100] ^= 1;
  CHECK(opened(size, refusal) == nullptr && refusal == Refusal::kCorrupt);
  std::free(kept);
}

ERRATA_TEST(snapshot_of_other_things_is_refused_by_name) {
  std::mt19937_64 random(seed());
  Partition partition(options(1'000'000), kernels());
  fill(partition, 50, random);
  const TemporaryFile file;
  CHECK(save(partition, file.path).ok());
  const std::vector<char> bytes = file.read();
  const auto refused = [&](Refusal expected, const SnapshotWanted& wanted = kWanted) {
    Refusal refusal;
    CHECK(open(file.path, refusal, wanted) == nullptr);
    CHECK_MESSAGE(refusal == expected, refusal_name(refusal));
  };
  refused(Refusal::kWrongModel, {kDimensions, true, "another", "store"});
  refused(Refusal::kWrongStore, {kDimensions, true, "model", "another"});
  refused(Refusal::kWrongShape, {kDimensions + 1, true, "model", "store"});
  refused(Refusal::kWrongShape, {kDimensions, false, "model", "store"});
  std::vector<char> changed = bytes;
  for (const char minor : {0, 1, 3}) {  // 1.0 and 1.1 were written by versions before, 1.3 by none yet
    changed[10] = minor;
    file.write(changed);
    refused(Refusal::kWrongVersion);
  }
  changed[8] = 2;
  file.write(changed);
  refused(Refusal::kWrongVersion);
  changed[0] = 'x';
  file.write(changed);
  refused(Refusal::kNotASnapshot);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, kSnapshotPage, bytes.size() - 1}) {
    file.write({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    refused(Refusal::kTruncated);
  }
  // Torn: what a disk may leave of a file whose pages were not all written.
  for (std::size_t page = 1; page < bytes.size() / kSnapshotPage; ++page) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(page * kSnapshotPage);
    if (std::all_of(at, at + kSnapshotPage, [](char byte) { return byte == 0; })) continue;
    changed = bytes;
    std::fill_n(changed.begin() + static_cast<std::ptrdiff_t>(page * kSnapshotPage), kSnapshotPage, '\0');
    file.write(changed);
    std::string detail;
    Refusal refusal;
    const std::shared_ptr<Snapshot> torn = Snapshot::open(file.path, kWanted, 2, refusal, detail);
    Partition restored(options(1'000'000), kernels());
    CHECK(torn ? restored.restore(torn, 0).code == Code::kCorrupt : refusal == Refusal::kCorrupt);
  }
  std::remove(file.path.c_str());
  refused(Refusal::kAbsent);
}

ERRATA_TEST(a_snapshot_with_a_graph_of_another_connectivity_is_taken_and_its_graph_built_anew) {
  for (const bool late : {false, true}) {
    std::mt19937_64 random(seed()), queries(seed());
    Partition partition(options(200), kernels());
    fill(partition, 600, random);
    const TemporaryFile file;
    CHECK(save(partition, file.path).ok());
    PartitionOptions other = options(200, late);
    other.graph = {8, 32};
    Partition restored(other, kernels());
    Refusal refusal;
    CHECK(restored.restore(open(file.path, refusal), 0).ok() && restored.verified().ok());
    restored.settle();
    CHECK(restored.stats().has_graph && restored.stats().graph_bytes != 0);
    check_equal(partition, restored, queries);
  }
}
