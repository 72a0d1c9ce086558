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

using namespace errata;
using namespace errata::test;

namespace {

constexpr std::size_t kDimensions = 20;

/// `late`: whatever is restored is verified as it is used, however small.
PartitionOptions options(std::size_t graph_threshold, bool late = false) {
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

std::shared_ptr<Snapshot> open(const std::string& path, Refusal& refusal,
                               const SnapshotWanted& wanted = kWanted) {
  std::string detail;
  return Snapshot::open(path, wanted, 2, refusal, detail);
}

/// Keys with one or two rows, tags and gaps.
void fill(Partition& partition, std::size_t n, std::mt19937_64& random) {
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

Status save(Partition& partition, const std::string& path) {
  SnapshotWriter writer(path, {7, kDimensions, true, 1'700'000'000'000, "model", "store"});
  Status status = writer.open();
  if (!status.ok()) return status;
  writer.begin_section(SectionKind::kDirectory, 0);
  status = writer.append("directory", 9);
  if (status.ok()) status = writer.end_section();
  if (status.ok()) status = partition.save(writer, 0, true);
  std::uint64_t bytes = 0;
  return status.ok() ? writer.finish(bytes) : status;
}

void check_equal(const Partition& a, const Partition& b, std::mt19937_64& random) {
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
  changed[10] = 0;  // version 1.0, as it was before large sections had digests of their own
  file.write(changed);
  refused(Refusal::kWrongVersion);
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

namespace {

/// A flip anywhere: the file is refused, at the latest when all of it was looked at, and until then no answer
/// is wrong. Returns whether it was found after the opening.
bool flipped_is_refused(const std::string& path, const Partition& sound, bool late, std::mt19937_64& random,
                        const std::string& where) {
  Refusal refusal;
  const std::shared_ptr<Snapshot> snapshot = open(path, refusal);
  if (!snapshot) {
    CHECK(refusal != Refusal::kNone);
    return false;
  }
  Partition restored(options(40, late), kernels());
  const Status status = restored.restore(snapshot, 0);
  if (!status.ok()) {
    CHECK_MESSAGE(status.code == Code::kCorrupt && restored.stats().rows == 0, where);
    return true;
  }
  CHECK_MESSAGE(late, where);
  // All exact: what a graph finds may differ, what a scan finds may not.
  const std::vector<float> vectors = random_units(4, kDimensions, 0, random);
  for (std::size_t i = 0; i < 4; ++i) {
    Query query;
    query.k = i % 2 == 0 ? 10 : 1;
    if (i == 3) query.filter = {1};
    std::vector<Answer> right, answers;
    CHECK(sound.search_batch(&vectors[i * kDimensions], 1, query, right).ok());
    const Status outcome = restored.search_batch(&vectors[i * kDimensions], 1, query, answers);
    CHECK_MESSAGE(outcome.ok() ? same(answers[0].hits, right[0].hits) : outcome.code == Code::kCorrupt,
                  where);
    query.vector = &vectors[i * kDimensions];
    Answer answer;
    const Status alone = restored.search(query, answer);
    CHECK_MESSAGE(
        alone.ok() ? !answer.exhaustive || same(answer.hits, right[0].hits) : alone.code == Code::kCorrupt,
        where);
    const Key key = 2;
    double score = 0, true_score = 0;
    CHECK(sound.scores_of(&vectors[i * kDimensions], &key, 1, &true_score).ok());
    const Status scored = restored.scores_of(&vectors[i * kDimensions], &key, 1, &score);
    CHECK_MESSAGE(scored.ok() ? score == true_score : scored.code == Code::kCorrupt, where);
  }
  CHECK_MESSAGE(restored.verified().code == Code::kCorrupt, where);
  Answer answer;
  Query query;
  query.vector = vectors.data();
  query.k = 1;
  CHECK_MESSAGE(restored.search(query, answer).code == Code::kCorrupt, where);
  CHECK(restored.put(plain_batch(1000, 1, vectors.data(), kDimensions)).code == Code::kCorrupt);
  SnapshotWriter writer(path + "-again", {7, kDimensions, true, 0, "model", "store"});
  CHECK(writer.open().ok() && restored.save(writer, 0, true).code == Code::kCorrupt);
  return true;
}

void flip_bytes(bool late) {
  std::mt19937_64 random(seed());
  Partition partition(options(40), kernels());
  fill(partition, 60, random);
  const TemporaryFile file;
  CHECK(save(partition, file.path).ok());
  std::vector<char> bytes = file.read();
  // Every byte of the header's numbers and of its digest, and a sample of the others.
  constexpr std::size_t kNumbers = 104, kDigest = sizeof(std::uint64_t);
  std::size_t after_opening = 0;
  for (std::size_t i = 0; i < kNumbers + kDigest + 600; ++i) {
    const std::size_t at = i < kNumbers             ? i
                           : i < kNumbers + kDigest ? kSnapshotPage - kDigest + (i - kNumbers)
                                                    : random() % bytes.size();
    const char flip = static_cast<char>(1u << random() % 8);
    bytes[at] ^= flip;
    file.write(bytes);
    after_opening += flipped_is_refused(file.path, partition, late, random, "byte " + std::to_string(at));
    bytes[at] ^= flip;
  }
  CHECK(after_opening > 100);
}

}  // namespace

ERRATA_TEST(snapshot_with_any_byte_flipped_is_refused) {
  flip_bytes(false);
}

ERRATA_TEST(snapshot_with_any_byte_flipped_answers_rightly_until_it_is_refused) {
  flip_bytes(true);
}

ERRATA_TEST(snapshot_with_right_digests_and_wrong_content_does_no_harm) {
  std::mt19937_64 random(seed());
  Partition partition(options(40), kernels());
  fill(partition, 60, random);
  const TemporaryFile file;
  CHECK(save(partition, file.path).ok());
  Refusal refusal;
  const std::shared_ptr<Snapshot> sound = open(file.path, refusal);
  CHECK(sound != nullptr);
  std::size_t refused = 0;
  for (std::size_t round = 0; round < 300; ++round) {
    const TemporaryFile forged;
    SnapshotWriter writer(forged.path, {7, kDimensions, true, 0, "model", "store"});
    CHECK(writer.open().ok());
    const SectionKind target = round % 3 == 0   ? SectionKind::kSlots
                               : round % 3 == 1 ? SectionKind::kTags
                                                : SectionKind::kGraph;
    for (const SectionKind kind : {SectionKind::kRows, SectionKind::kCodes, SectionKind::kSlots,
                                   SectionKind::kTags, SectionKind::kGraph}) {
      SectionView view;
      CHECK(sound->section(kind, 0, view));
      std::vector<std::byte> content(view.data, view.data + view.bytes);
      if (kind == target) content[random() % content.size()] ^= std::byte(1u << random() % 8);
      LateSection late;
      writer.begin_section(kind, 0, sound->late_section(kind, 0, late) ? late.piece_bytes : kSnapshotPiece);
      CHECK(writer.append(content.data(), content.size()).ok() && writer.end_section().ok());
    }
    std::uint64_t size = 0;
    CHECK(writer.finish(size).ok());
    const std::shared_ptr<Snapshot> snapshot = open(forged.path, refusal);
    CHECK(snapshot != nullptr);
    Partition restored(options(40, round % 2 == 0), kernels());
    Status status = restored.restore(snapshot, 0);
    CHECK(status.ok() || status.code == Code::kCorrupt);
    if (!status.ok()) CHECK(restored.stats().rows == 0);
    if (status.ok()) {
      status = restored.verified();
      CHECK(status.ok() || status.code == Code::kCorrupt);
      if (!status.ok()) {
        ++refused;
        continue;
      }
    } else {
      ++refused;
    }
    // Whatever came of it, it can be searched and written.
    const std::vector<float> vector = random_units(1, kDimensions, 0, random);
    Query query;
    query.vector = vector.data();
    query.k = 10;
    Answer answer;
    CHECK(restored.search(query, answer).ok());
    CHECK(restored.put(plain_batch(1000, 1, vector.data(), kDimensions)).ok());
  }
  CHECK(refused > 50);
}

ERRATA_TEST(digest_notices_every_single_word) {
  std::mt19937_64 random(seed());
  std::vector<std::uint64_t> words(67);
  for (std::uint64_t& word : words) word = random();
  const std::uint64_t whole = digest(1, words.data(), words.size() * 8);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (int bit = 0; bit < 64; ++bit) {
      words[i] ^= std::uint64_t{1} << bit;
      CHECK(digest(1, words.data(), words.size() * 8) != whole);
      words[i] ^= std::uint64_t{1} << bit;
    }
  }
  // Exchanged words, and the same change twice in one chain.
  std::swap(words[0], words[8]);
  CHECK(digest(1, words.data(), words.size() * 8) != whole);
  std::swap(words[0], words[8]);
  words[0] ^= std::uint64_t{1} << 63;
  words[8] ^= std::uint64_t{1} << 63;
  CHECK(digest(1, words.data(), words.size() * 8) != whole);
}
