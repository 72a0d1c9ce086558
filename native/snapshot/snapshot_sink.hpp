#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "common/status.hpp"

namespace errata {

/// Where a snapshot's bytes go, first to last, but for the header, which replaces the first ones at the end.
class SnapshotSink {
 public:
  SnapshotSink() = default;
  virtual ~SnapshotSink() = default;
  SnapshotSink(const SnapshotSink&) = delete;
  SnapshotSink& operator=(const SnapshotSink&) = delete;

  virtual Status open() = 0;
  virtual Status append(const void* data, std::size_t bytes) = 0;
  /// `bytes` were appended before.
  virtual Status replace_start(const void* data, std::size_t bytes) = 0;
  virtual Status finish() = 0;
};

/// Writes `path` whole or not at all: beside it first, then fsync, rename, fsync of the folder. Trouble with
/// the disk comes as INVALID_INPUT with the system's reason. Destroyed before `finish()` it leaves nothing
/// behind.
class FileSink : public SnapshotSink {
 public:
  explicit FileSink(std::string path);
  ~FileSink() override;

  Status open() override;
  Status append(const void* data, std::size_t bytes) override;
  Status replace_start(const void* data, std::size_t bytes) override;
  Status finish() override;

 private:
  Status trouble(const char* what) const;

  const std::string path_;
  const std::string beside_;
  std::FILE* file_ = nullptr;
};

/// Keeps the bytes, for callers that seal them before they reach a disk.
class MemorySink : public SnapshotSink {
 public:
  ~MemorySink() override;

  Status open() override { return {}; }
  Status append(const void* data, std::size_t bytes) override;
  Status replace_start(const void* data, std::size_t bytes) override;
  /// Gives back what growth had over.
  Status finish() override;
  std::size_t size() const { return bytes_; }
  /// The bytes, for `std::free`; the sink is empty after it.
  void* release();

 private:
  Status grow(std::size_t capacity);

  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace errata
