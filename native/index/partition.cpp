#include "index/partition.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <shared_mutex>

// Writing: put and remove. Checks are in partition_check.cpp, reading in partition_plan.cpp and
// partition_search.cpp, what happens in the background in partition_tend.cpp, partition_build.cpp and
// partition_audit.cpp.

namespace errata {
namespace {

using Clock = std::chrono::steady_clock;
// Long enough to amortise the lock, short enough that a search behind it does not notice.
constexpr std::chrono::microseconds kSlice{500};

}  // namespace

Partition::Partition(PartitionOptions options, const simd::Kernels& kernels)
    : options_(options),
      kernels_(kernels),
      rows_(options.dimensions),
      costs_(options.costs ? *options.costs : calibrated_costs(kernels, options.dimensions, options.codes)) {
  if (options.codes) codes_ = std::make_unique<CodeStore>(options.dimensions);
}

Partition::~Partition() {
  close();
}

void Partition::close() {
  closed_.store(true);
  std::lock_guard<std::mutex> writer(writers_);
  stop_tending();
}

Status Partition::closed_status() const {
  if (!closed_.load()) return {};
  return Status::fail(Code::kClosed, "Expected an open index, received a call after close()");
}

Status Partition::broken_status() const {
  if (!broken_.load()) return {};
  // Ended before it was whole.
  if (closed_.load()) return closed_status();
  return Status::fail(Code::kCorrupt, "Expected a sound snapshot, received wrong bytes in the mapped file");
}

Status Partition::ready(bool needed) const {
  if (needed && indexing_.load()) {
    end_head_start();
    std::unique_lock<std::mutex> guard(restoring_mutex_);
    restoring_.wait(guard, [this] { return !indexing_.load(); });
  }
  return broken_status();
}

Status Partition::writable() const {
  Status status = ready(true);
  return status.ok() ? closed_status() : status;
}

Status Partition::put(const PutBatch& batch) {
  Status status = check_batch(batch);
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> writer(writers_);
  for (std::size_t i = 0; i < batch.keys.size();) {
    if (!(status = writable()).ok()) return status;
    {
      // Memory is waited for beside the searches: this is the one writer, and nothing else asks for blocks.
      std::shared_lock<RwLock> guard(lock_);
      rows_.blocks().prepare(info_.size() + kRowKinds);
      if (codes_) codes_->blocks().prepare(info_.size() + kRowKinds);
      info_.blocks().prepare(info_.size() + kRowKinds);
      if (graph_) graph_->prepare(info_.size() + kRowKinds);
    }
    std::lock_guard<RwLock> guard(lock_);
    const Clock::time_point end = Clock::now() + kSlice;
    do {
      status = put_one(batch, i);
      if (!status.ok()) return status;
      ++i;
    } while (i < batch.keys.size() && Clock::now() < end && room_ready());
  }
  maintain();
  return {};
}

bool Partition::room_ready() const {
  const std::size_t slots = info_.size() + kRowKinds;
  return rows_.blocks().ready(slots) && info_.blocks().ready(slots) &&
         (!codes_ || codes_->blocks().ready(slots)) && (!graph_ || graph_->ready(slots));
}

Status Partition::remove(const Key* keys, std::size_t n, std::size_t& removed) {
  removed = 0;
  std::lock_guard<std::mutex> writer(writers_);
  for (std::size_t i = 0; i < n;) {
    Status status = writable();
    if (!status.ok()) return status;
    std::lock_guard<RwLock> guard(lock_);
    const Clock::time_point end = Clock::now() + kSlice;
    do {
      if (remove_one(keys[i])) ++removed;
      ++i;
    } while (i < n && Clock::now() < end);
  }
  maintain();
  return {};
}

Status Partition::put_one(const PutBatch& batch, std::size_t index) {
  const Key key = batch.keys[index];
  const std::size_t begin = batch.row_begin[index], end = batch.row_begin[index + 1];

  // Memory first: nothing of the key may be touched before it is sure that the key can be written whole.
  const std::size_t missing = end - begin > tombstones() ? end - begin - tombstones() : 0;
  const std::size_t slots = info_.size() + missing;
  if (slots >= kNoSlot || !rows_.blocks().reserve(slots) || !info_.blocks().reserve(slots) ||
      (codes_ && !codes_->blocks().reserve(slots))) {
    return Status::fail(Code::kOutOfMemory, "Expected memory for another row, received none");
  }

  KeyEntry& entry = keys_[key];
  if (save_) keep_chunks(entry);
  tag_rows(entry, false);
  unsigned wanted = 0;
  for (std::size_t row = begin; row < end; ++row) wanted |= 1u << batch.kinds[row];
  for (std::size_t kind = 0; kind < kRowKinds; ++kind) {
    if (entry.slots[kind] == kNoSlot || (wanted >> kind) & 1) continue;
    free_row(entry.slots[kind]);
    entry.slots[kind] = kNoSlot;
  }
  Status status;
  for (std::size_t row = begin; row < end; ++row) {
    const std::uint8_t kind = batch.kinds[row];
    Slot slot = entry.slots[kind];
    if (slot == kNoSlot) {
      if (tombstones() == 0) {
        slot = info_.append();
      } else {
        slot = lowest_free();
      }
      entry.slots[kind] = slot;
      live_.set(slot);
      ++live_rows_;
    }
    Status linked =
        write_row(slot, key, batch.orders[index], kind, &batch.vectors[row * options_.dimensions]);
    if (!linked.ok()) status = std::move(linked);
  }
  entry.tags.assign(batch.tags.begin() + batch.tag_begin[index],
                    batch.tags.begin() + batch.tag_begin[index + 1]);
  std::sort(entry.tags.begin(), entry.tags.end());
  entry.tags.erase(std::unique(entry.tags.begin(), entry.tags.end()), entry.tags.end());
  tag_rows(entry, true);
  bool first = true;
  for (const Slot slot : entry.slots) {
    if (slot == kNoSlot) continue;
    if (first) {
      primary_.set(slot);
    } else {
      primary_.clear(slot);
    }
    first = false;
  }
  return status;
}

Status Partition::write_row(Slot slot, Key key, Order order, std::uint8_t kind, const float* vector) {
  // In a mapped file the rows beside it must be verified before this one changes.
  if (!rows_.sound(slot) || (codes_ && !codes_->blocks().sound(slot / kChunkSlots))) return ended(nullptr);
  info_[slot] = {key, order, kind, 0};
  float* row = rows_.row(slot);
  const std::size_t bytes = options_.dimensions * sizeof(float);
  const bool linked = graph_ && slot < graph_->size();
  // The same vector again, as when only attributes changed: its links are still right.
  if (linked && std::memcmp(row, vector, bytes) == 0) return {};
  std::memcpy(row, vector, bytes);
  std::memset(row + options_.dimensions, 0, (rows_.stride() - options_.dimensions) * sizeof(float));
  if (codes_) code_error_ = std::max(code_error_, codes_->encode(slot, row, kernels_));
  if (slot < restored_slots_ || (growing_ != nullptr && slot < growing_->size())) dirty_.push_back(slot);
  if (!graph_) return {};
  const auto aside = std::lower_bound(kept_aside_.begin(), kept_aside_.end(), slot);
  if (aside != kept_aside_.end() && *aside == slot) kept_aside_.erase(aside);
  if (linked) {
    count_churn();
  } else {
    ++wear_;
  }
  if (links_rest_ || slot > graph_->size()) {
    link_later(slot);
    return {};
  }
  Status status = linked ? graph_->update(slot) : graph_->reserve(graph_->size() + 1);
  if (!linked && status.ok()) status = graph_->add(0);
  // A graph that misses a row would answer wrongly for ever; a scan is only slower.
  if (!status.ok()) drop_graph();
  return {};
}

bool Partition::remove_one(Key key) {
  const KeyEntry* entry = keys_.find(key);
  if (entry == nullptr) return false;
  if (save_) keep_chunks(*entry);
  tag_rows(*entry, false);
  for (const Slot slot : entry->slots) {
    if (slot != kNoSlot) free_row(slot);
  }
  keys_.erase(key);
  return true;
}

void Partition::free_row(Slot slot) {
  live_.clear(slot);
  primary_.clear(slot);
  --live_rows_;
  count_churn();
  free_word_ = std::min<std::size_t>(free_word_, slot / 64);
}

/// Low slots are used first, so that the high ones may go. There must be one.
Slot Partition::lowest_free() {
  while (~live_.word(free_word_) == 0) ++free_word_;
  return static_cast<Slot>(free_word_ * 64 + lowest_bit(~live_.word(free_word_)));
}

void Partition::tag_rows(const KeyEntry& entry, bool add) {
  for (const Tag tag : entry.tags) {
    SlotSet& slots = tags_[tag];
    for (const Slot slot : entry.slots) {
      if (slot == kNoSlot) continue;
      if (add) {
        slots.insert(slot);
      } else {
        slots.erase(slot);
      }
    }
    slots.count_note(add);
    if (slots.size() == 0) tags_.erase(tag);
  }
  Slot held[kRowKinds];
  std::size_t n = 0;
  for (const Slot slot : entry.slots) {
    if (slot != kNoSlot) held[n++] = slot;
  }
  filters_.change_note(entry.tags, held, n, add);
}

PartitionStats Partition::stats() const {
  std::shared_lock<RwLock> guard(lock_);
  PartitionStats stats;
  stats.keys = key_count();
  stats.rows = live_rows_;
  stats.tombstones = tombstones();
  stats.kept_aside = kept_aside_.size();
  stats.compactions = compactions_;
  stats.audits = audits_;
  stats.repairs = repairs_;
  stats.row_bytes = rows_.blocks().memory_bytes();
  stats.code_bytes = codes_ ? codes_->blocks().memory_bytes() : 0;
  stats.graph_bytes = graph_ ? graph_->memory_bytes() : 0;
  stats.filter_bytes = live_.memory_bytes() + primary_.memory_bytes();
  if (!indexing_.load()) {
    stats.filter_bytes += tags_.memory_bytes();
    tags_.each([&stats](Tag, const SlotSet& slots) {
      stats.filter_bytes += slots.memory_bytes() - sizeof(SlotSet);
    });
    stats.bookkeeping_bytes += keys_.memory_bytes();
  }
  stats.filter_bytes += filters_.memory_bytes();
  stats.cached_filters = filters_.size();
  stats.filter_hits = filters_.hits();
  stats.filter_misses = filters_.misses();
  stats.bookkeeping_bytes += info_.blocks().memory_bytes();
  stats.longest_hold_us = longest_hold_.us();
  stats.has_graph = graph_ != nullptr;
  stats.building = tending_.load();
  return stats;
}

}  // namespace errata
