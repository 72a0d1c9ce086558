// Files that were changed: by accident anywhere, or on purpose with right digests.
#include "snapshot_fixture.hpp"

using namespace errata;
using namespace errata::test;

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
  FileSink sink(path + "-again");
  SnapshotWriter writer(sink, {7, kDimensions, true, 0, "model", "store"});
  CHECK(writer.open().ok() && restored.pin(true).code == Code::kCorrupt);
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
    FileSink sink(forged.path);
    SnapshotWriter writer(sink, {7, kDimensions, true, 0, "model", "store"});
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
