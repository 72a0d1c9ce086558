#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "index/graph_links.hpp"
#include "index/partition.hpp"
#include "snapshot/snapshot_reader.hpp"

// A partition out of a snapshot. Rows, codes and graph have not passed their digests when it is opened: a
// small partition has them pass at once, a large one chunk by chunk, each before its bytes can matter to an
// answer. The checks of counts and links keep a file that a faulty program wrote from doing harm.

namespace errata {
namespace {

constexpr std::uint32_t kLive = 1;
constexpr std::uint32_t kPrimary = 2;
// Chunks verified under one lock, 0.5 ms: writers come in between.
constexpr std::size_t kChunksASlice = 16;
// How long the background waits for the first search, which scans and verifies all codes by itself: on two
// cores they would share them with the background, which indexes keys meanwhile.
constexpr std::chrono::milliseconds kHeadStart{100};
// Slots taken over between two looks at whether to stop: 2 ms.
constexpr std::size_t kSlotsASlice = 4096;

Status corrupt(const char* what) {
  return Status::fail(Code::kCorrupt, std::string("Expected a sound snapshot, received wrong ") + what);
}

std::size_t chunks_of(std::size_t slots) {
  return (slots + kChunkSlots - 1) / kChunkSlots;
}

/// `bytes` may end within the last chunk, which the file pads.
Status copy_chunks(BlockStore& blocks, const SectionView& view, std::size_t slots) {
  if (!blocks.reserve(slots)) {
    return Status::fail(Code::kOutOfMemory, "Expected memory for the rows, received none");
  }
  for (std::size_t i = 0; i < chunks_of(slots); ++i) {
    std::memcpy(blocks.chunk(i), view.data + i * blocks.chunk_bytes(), blocks.chunk_bytes());
  }
  return {};
}

Status take_chunks(BlockStore& blocks, std::size_t piece_bytes, const LateSection& section, std::size_t slots,
                   bool late, const std::shared_ptr<Snapshot>& snapshot) {
  const std::size_t chunks = chunks_of(slots);
  if (section.view.bytes != chunks * blocks.chunk_bytes() || section.piece_bytes != piece_bytes) {
    return corrupt("lengths");
  }
  const std::size_t parts = blocks.chunk_bytes() / piece_bytes;
  if (late) {
    blocks.adopt(section.view.data, chunks, snapshot, parts,
                 [section](std::size_t chunk) { return section.sound(chunk); });
    return {};
  }
  // Copied, so that the rows can lie on huge pages.
  return section.all_sound() ? copy_chunks(blocks, section.view, slots) : corrupt("bytes");
}

}  // namespace

/// What of a snapshot is still to be taken over. The views lie in `snapshot`.
struct Partition::Restored {
  std::shared_ptr<Snapshot> snapshot;
  SectionView tags;
  TagsHead head{};
  LateSection graph;
  std::vector<Slot> aside;
  bool has_graph = false;
  bool late = false;
};

Status Partition::restore(const std::shared_ptr<Snapshot>& snapshot, std::uint32_t number) {
  std::lock_guard<std::mutex> waits(writers_);
  Status status = writable();
  if (!status.ok()) return status;
  if (!info_.empty()) return Status::fail(Code::kInvalidInput, "Expected an empty partition to restore");
  auto restored = std::make_shared<Restored>();
  std::unique_ptr<Graph> loaded;
  std::vector<Slot> aside;
  {
    std::lock_guard<RwLock> guard(lock_);
    status = take_sections(snapshot, number, *restored);
    if (status.ok() && !restored->late) {
      std::unique_ptr<Graph> graph;
      status = index_rows(*restored);
      if (status.ok()) status = load_graph(*restored, graph);
      if (status.ok() && graph) {
        loaded = std::move(graph);
        aside = std::move(restored->aside);
      }
    } else if (status.ok()) {
      indexing_.store(true);
      verifying_.store(true);
      head_start_over_.store(false);
      restored_slots_ = restored->has_graph ? info_.size() : 0;
      restored_ = std::move(restored);
    }
    if (!status.ok()) forget_rows();
  }
  if (loaded) {
    CostModel costs = costs_;
    GraphCosts graph_costs = graph_costs_;
    measure_costs(*loaded, costs, graph_costs);
    std::lock_guard<RwLock> guard(lock_);
    costs_ = costs;
    graph_costs_ = graph_costs;
    graph_ = std::move(loaded);
    kept_aside_ = std::move(aside);
  }
  if (status.ok()) maintain();
  return status;
}

/// As it was: empty.
void Partition::forget_rows() {
  drop_graph();
  (void)info_.truncate(0);
  keys_.clear();
  tags_.clear();
  live_ = {};
  primary_ = {};
  live_rows_ = free_word_ = restored_keys_ = 0;
  code_error_ = 0;
  (void)rows_.blocks().truncate(0);
  if (codes_) (void)codes_->blocks().truncate(0);
}

/// Rows, codes and slots, and which slots are live.
Status Partition::take_sections(const std::shared_ptr<Snapshot>& snapshot, std::uint32_t number,
                                Restored& restored) {
  LateSection rows, codes;
  SectionView slots;
  if (!snapshot->late_section(SectionKind::kRows, number, rows) ||
      !snapshot->section(SectionKind::kSlots, number, slots) ||
      !snapshot->section(SectionKind::kTags, number, restored.tags) ||
      (codes_ && !snapshot->late_section(SectionKind::kCodes, number, codes))) {
    return corrupt("sections");
  }
  SectionView graph;
  restored.has_graph = snapshot->section(SectionKind::kGraph, number, graph);
  if (restored.has_graph && !snapshot->late_section(SectionKind::kGraph, number, restored.graph))
    return corrupt("sections");
  restored.snapshot = snapshot;
  restored.late = rows.view.bytes + codes.view.bytes >= options_.late_bytes;
  const std::size_t count = slots.bytes / sizeof(SlotRecord);
  if (slots.bytes % sizeof(SlotRecord) != 0 || count >= kNoSlot) return corrupt("lengths");
  Status status = take_chunks(rows_.blocks(), rows_.piece_bytes(), rows, count, restored.late, snapshot);
  if (status.ok() && codes_)
    status =
        take_chunks(codes_->blocks(), codes_->blocks().chunk_bytes(), codes, count, restored.late, snapshot);
  if (status.ok() && restored.late) info_.blocks().adopt(slots.data, chunks_of(count), snapshot);
  if (status.ok() && !restored.late) status = copy_chunks(info_.blocks(), slots, count);
  if (!status.ok()) return status;
  info_.adopted(count);

  TagsHead& head = restored.head;
  if (restored.tags.bytes < sizeof(head) + (count + 1) * sizeof(std::uint32_t)) return corrupt("lengths");
  std::memcpy(&head, restored.tags.data, sizeof(head));
  if (head.slots != count || !(head.code_error >= 0 && std::isfinite(head.code_error)))
    return corrupt("tags");
  code_error_ = head.code_error;
  audit_due_ = restored.has_graph && head.doubtful != 0;
  for (std::size_t word = 0; word * kChunkSlots < count; ++word) {
    std::uint64_t live = 0, primary = 0;
    for (std::size_t i = 0; i < std::min(kChunkSlots, count - word * kChunkSlots); ++i) {
      const SlotInfo& info = info_[word * kChunkSlots + i];
      if ((info.flags & kLive) == 0) continue;
      if (info.kind >= kRowKinds) return corrupt("kinds");
      live |= std::uint64_t{1} << i;
      if (info.flags & kPrimary) primary |= std::uint64_t{1} << i;
    }
    live_.or_word(word, live);
    primary_.or_word(word, primary);
    live_rows_ += count_bits(live);
    restored_keys_ += count_bits(primary);
  }
  return take_aside(*snapshot, number, restored);
}

Status Partition::take_aside(const Snapshot& snapshot, std::uint32_t number, Restored& restored) const {
  SectionView view;
  if (!snapshot.section(SectionKind::kAside, number, view)) return {};
  if (view.bytes % sizeof(Slot) != 0 || !restored.has_graph) return corrupt("lengths");
  const auto* slots = reinterpret_cast<const Slot*>(view.data);
  std::vector<Slot>& aside = restored.aside;
  aside.assign(slots, slots + view.bytes / sizeof(Slot));
  const auto wrong = [this](Slot slot) { return slot >= info_.size() || !live_.test(slot); };
  if (std::adjacent_find(aside.begin(), aside.end(), std::greater_equal<Slot>()) != aside.end() ||
      std::any_of(aside.begin(), aside.end(), wrong)) {
    return corrupt("slots");
  }
  return {};
}

/// Keys and tags. Writers and filtered searches wait, or hold the lock up, meanwhile.
Status Partition::index_rows(const Restored& restored) {
  const std::size_t count = info_.size();
  const auto* ends = reinterpret_cast<const std::uint32_t*>(restored.tags.data + sizeof(TagsHead));
  const Tag* listed = ends + count + 1;
  const std::size_t listed_tags = (restored.tags.bytes - sizeof(TagsHead)) / sizeof(Tag) - (count + 1);
  if (ends[0] != 0 || ends[count] != listed_tags) return corrupt("tags");
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (ends[slot] > ends[slot + 1]) return corrupt("tags");
  }
  keys_.reserve(count);
  for (Slot slot = 0; slot < count; ++slot) {
    if (slot % kSlotsASlice == 0 && closed_.load()) return closed_status();
    const SlotInfo& info = info_[slot];
    if ((info.flags & kLive) == 0) continue;
    KeyEntry& entry = keys_[info.key];
    const bool added = entry.slots[0] == kNoSlot && entry.slots[1] == kNoSlot;
    if (entry.slots[info.kind] != kNoSlot) return corrupt("slots");
    entry.slots[info.kind] = slot;
    if (added) {
      entry.tags.assign(listed + ends[slot], listed + ends[slot + 1]);
      if (std::adjacent_find(entry.tags.begin(), entry.tags.end(), std::greater_equal<Tag>()) !=
          entry.tags.end()) {
        return corrupt("tags");
      }
    }
    for (const Tag tag : entry.tags) {
      if (tag > kLargestTag) return corrupt("tags");
      SlotSet& set = tags_[tag];
      set.insert(slot);
      if (added) set.count_note(true);
    }
  }
  return restored_keys_ == keys_.size() ? Status{} : corrupt("slots");
}

Status Partition::load_graph(const Restored& restored, std::unique_ptr<Graph>& graph) const {
  if (!restored.has_graph) return {};
  if (!restored.graph.all_sound()) return corrupt("links");
  const char* links = reinterpret_cast<const char*>(restored.graph.view.data);
  const std::size_t connectivity = links_connectivity(links, restored.graph.view.bytes);
  // Another one was set since: the background builds a graph anew.
  if (connectivity != 0 && connectivity != options_.graph.connectivity) return {};
  auto loaded = std::make_unique<Graph>(rows_, codes_.get(), kernels_, options_.graph);
  Status status = loaded->load(links, restored.graph.view.bytes, restored.head.slots);
  if (status.ok()) graph = std::move(loaded);
  return status;
}

/// In the background: what is sound is used as it is found to be, and what is not ends the partition.
void Partition::finish_restore() {
  const Restored& restored = *restored_;
  std::vector<Slot> aside = std::move(restored_->aside);
  {
    std::unique_lock<std::mutex> guard(restoring_mutex_);
    restoring_.wait_for(guard, kHeadStart, [this] { return head_start_over_.load(); });
  }
  std::unique_ptr<Graph> graph;
  Status status;
  try {
    status = index_rows(restored);
    if (status.ok()) {
      {
        std::lock_guard<RwLock> guard(lock_);
        indexing_.store(false);
      }
      std::lock_guard<std::mutex> guard(restoring_mutex_);
      restoring_.notify_all();
    }
    if (status.ok() && ((codes_ && !verify_blocks(codes_->blocks())) || !verify_blocks(rows_.blocks())))
      status = corrupt("bytes");
    if (status.ok()) {
      rows_.blocks().all_verified();
      if (codes_) codes_->blocks().all_verified();
      status = load_graph(restored, graph);
    }
  } catch (const std::bad_alloc&) {
    status = Status::fail(Code::kOutOfMemory, "Expected memory for the index, received none");
  }
  if (!status.ok()) {
    broken_.store(true);
    stop_tender_.store(true);
  }
  {
    std::lock_guard<RwLock> guard(lock_);
    restored_.reset();
    indexing_.store(false);
    if (!graph) {
      restored_slots_ = 0;
      dirty_.clear();
    }
  }
  {
    std::lock_guard<std::mutex> guard(restoring_mutex_);
    verifying_.store(false);
  }
  restoring_.notify_all();
  if (graph) build(std::move(graph), std::move(aside));
}

bool Partition::verify_blocks(const BlockStore& blocks) const {
  const std::size_t chunks = chunks_of(restored_->head.slots);
  for (std::size_t chunk = 0; chunk < chunks;) {
    // A writer may change a chunk only between two slices, and has it verified before.
    const HeldShared guard(lock_, longest_hold_);
    if (closed_.load()) return false;
    const std::size_t end = std::min(chunks, chunk + kChunksASlice);
    blocks.fault_in(chunk, end - chunk);
    for (; chunk < end; ++chunk) {
      if (!blocks.sound(chunk)) return false;
    }
  }
  return true;
}

void Partition::end_head_start() const {
  if (head_start_over_.load()) return;
  {
    std::lock_guard<std::mutex> guard(restoring_mutex_);
    head_start_over_.store(true);
  }
  restoring_.notify_all();
}

Status Partition::verified() {
  end_head_start();
  std::unique_lock<std::mutex> guard(restoring_mutex_);
  restoring_.wait(guard, [this] { return !verifying_.load(); });
  return broken_status();
}

}  // namespace errata
