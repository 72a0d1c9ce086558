#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "index/ahead_memory.hpp"

namespace errata {

/// Memory that is given back as a whole: a graph's nodes lie close together, on huge pages, without a header
/// each. Not thread-safe: USearch allocates nodes under its own lock.
class Arena {
 public:
  Arena() = default;
  ~Arena() {
    for (char* block : blocks_) ahead_.free(block);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* allocate(std::size_t bytes) {
    bytes = (bytes + 7) / 8 * 8;
    if (bytes > kBlock) return nullptr;
    if (blocks_.empty() || used_ + bytes > kBlock) {
      char* block = ahead_.begun() ? ahead_.take() : ahead_.allocate(kBlock);
      if (block == nullptr) return nullptr;
      blocks_.push_back(block);
      used_ = 0;
    }
    // The next one while half of this one is left: 7,000 nodes.
    if (used_ > kBlock / 2) ahead_.prepare(kBlock);
    char* data = blocks_.back() + used_;
    used_ += bytes;
    return data;
  }
  std::size_t memory_bytes() const { return blocks_.size() * kBlock + ahead_.bytes(); }

 private:
  static constexpr std::size_t kBlock = kHugePage;

  AheadMemory ahead_{true};
  std::vector<char*> blocks_;
  std::size_t used_ = 0;
};

/// Copies share their arena.
struct ArenaAllocator {
  using value_type = char;
  template <typename Other>
  struct rebind {
    using other = ArenaAllocator;
  };

  std::shared_ptr<Arena> arena = std::make_shared<Arena>();

  char* allocate(std::size_t bytes) noexcept { return arena->allocate(bytes); }
  void deallocate(char*, std::size_t) noexcept {}
  /// USearch's sign that everything goes at once.
  void reset() noexcept { arena = std::make_shared<Arena>(); }
};

/// USearch checks allocations for null; `std::allocator` would throw through its noexcept functions instead.
template <typename Element>
struct NothrowAllocator {
  using value_type = Element;
  template <typename Other>
  struct rebind {
    using other = NothrowAllocator<Other>;
  };
  NothrowAllocator() = default;
  template <typename Other>
  NothrowAllocator(const NothrowAllocator<Other>&) {}

  Element* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(Element)) return nullptr;
    if constexpr (alignof(Element) == std::size_t(AheadMemory::kPlain)) {
      if (char* offered = OfferedMemory::take(count * sizeof(Element)))
        return reinterpret_cast<Element*>(offered);
    }
    return static_cast<Element*>(
        ::operator new(count * sizeof(Element), std::align_val_t(alignof(Element)), std::nothrow));
  }
  void deallocate(Element* data, std::size_t) noexcept {
    ::operator delete(data, std::align_val_t(alignof(Element)));
  }
  template <typename Other>
  bool operator==(const NothrowAllocator<Other>&) const {
    return true;
  }
  template <typename Other>
  bool operator!=(const NothrowAllocator<Other>&) const {
    return false;
  }
};

}  // namespace errata
