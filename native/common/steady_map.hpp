#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace errata {

/// A hash map from integers that grows without a pause: where `std::unordered_map` moves a million entries at
/// once (31 ms), this moves a few with every insertion. Values stay where they are until they are erased. Not
/// thread-safe: the partition's lock guards it.
template <typename Key, typename Value>
class SteadyMap {
 public:
  std::size_t size() const { return size_; }

  Value* find(Key key) { return const_cast<Value*>(static_cast<const SteadyMap*>(this)->find(key)); }
  const Value* find(Key key) const {
    const std::uint32_t* place = find_in(table_, key);
    if (place == nullptr) place = find_in(old_, key);
    return place ? &entries_[*place - 1].value : nullptr;
  }
  /// What is there, or a new value.
  Value& operator[](Key key) {
    if (Value* found = find(key)) return *found;
    make_room();
    std::uint32_t index;
    if (free_.empty()) {
      entries_.emplace_back();
      index = static_cast<std::uint32_t>(entries_.size());
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Entry& entry = entries_[index - 1];
    entry.key = key;
    entry.used = true;
    insert(table_, key, index);
    ++size_;
    return entry.value;
  }
  void erase(Key key) {
    std::uint32_t* place = const_cast<std::uint32_t*>(find_in(table_, key));
    if (place == nullptr) place = const_cast<std::uint32_t*>(find_in(old_, key));
    if (place == nullptr) return;
    free_.push_back(*place);
    entries_[*place - 1] = {};
    *place = kGone;
    --size_;
  }
  void clear() { *this = {}; }
  /// Of an empty map: room for that many at once.
  void reserve(std::size_t count) {
    if (size_ == 0 && !old_.places) table_ = make_table(count);
  }
  template <typename Visit>
  void each(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.used) visit(entry.key, entry.value);
    }
  }
  std::size_t memory_bytes() const {
    return (table_.capacity() + old_.capacity() + free_.capacity()) * sizeof(std::uint32_t) +
           entries_.size() * sizeof(Entry);
  }

 private:
  struct Entry {
    Key key{};
    Value value{};
    bool used = false;
  };
  struct Free {
    void operator()(std::uint32_t* data) const { std::free(data); }
  };
  /// Places hold 0, kGone, or the number of an entry plus one; linear probing.
  struct Table {
    std::unique_ptr<std::uint32_t[], Free> places;
    std::size_t mask = 0;
    std::size_t filled = 0;  // kGone too

    std::size_t capacity() const { return places ? mask + 1 : 0; }
  };

  static constexpr std::uint32_t kGone = 0xffff'ffff;
  // Enough to be done long before the next growth, which is as many insertions away as there are entries.
  static constexpr std::size_t kMoves = 8;

  static std::size_t hash(Key key) {
    // The finaliser of MurmurHash3.
    std::uint64_t x = key;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return static_cast<std::size_t>(x ^ (x >> 33));
  }
  const std::uint32_t* find_in(const Table& table, Key key) const {
    if (!table.places) return nullptr;
    for (std::size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
      const std::uint32_t place = table.places[i];
      if (place == 0) return nullptr;
      if (place != kGone && entries_[place - 1].key == key) return &table.places[i];
    }
  }
  static void insert(Table& table, Key key, std::uint32_t index) {
    std::size_t i = hash(key) & table.mask;
    while (table.places[i] != 0) i = (i + 1) & table.mask;
    table.places[i] = index;
    ++table.filled;
  }
  /// At most five sixteenths full, so that there is room for as many again.
  static Table make_table(std::size_t count) {
    std::size_t capacity = 16;
    while (capacity * 5 < count * 16) capacity *= 2;
    Table table;
    // calloc: the kernel's zero pages come as they are touched, not all now.
    table.places.reset(static_cast<std::uint32_t*>(std::calloc(capacity, sizeof(std::uint32_t))));
    if (!table.places) throw std::bad_alloc();
    table.mask = capacity - 1;
    return table;
  }
  void make_room() {
    move(kMoves);
    if (table_.places && (table_.filled + 1) * 8 <= table_.capacity() * 5) return;
    move(old_.capacity());
    Table next = make_table(size_ + 1);
    old_ = std::move(table_);
    table_ = std::move(next);
    moved_ = 0;
  }
  void move(std::size_t places) {
    if (!old_.places) return;
    for (; places > 0 && moved_ <= old_.mask; --places, ++moved_) {
      std::uint32_t& place = old_.places[moved_];
      if (place != 0 && place != kGone) insert(table_, entries_[place - 1].key, place);
      if (place != 0) place = kGone;
    }
    if (moved_ > old_.mask) old_ = {};
  }

  std::deque<Entry> entries_;
  std::vector<std::uint32_t> free_;
  Table table_;
  Table old_;
  std::size_t moved_ = 0;
  std::size_t size_ = 0;
};

}  // namespace errata
