#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "snapshot/format.hpp"

namespace errata {

/// Memory for a snapshot that is not mapped from a file: begins on a page, as its sections do.
class SnapshotMemory {
 public:
  /// Null where there is no memory.
  static std::shared_ptr<SnapshotMemory> allocate(std::size_t bytes) {
    auto* const data = static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
    return data == nullptr ? nullptr : std::shared_ptr<SnapshotMemory>(new SnapshotMemory(data, bytes));
  }
  ~SnapshotMemory() { ::operator delete(data_, kAlignment); }
  SnapshotMemory(const SnapshotMemory&) = delete;
  SnapshotMemory& operator=(const SnapshotMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  static constexpr std::align_val_t kAlignment{kSnapshotPage};

  SnapshotMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* const data_;
  const std::size_t bytes_;
};

}  // namespace errata
