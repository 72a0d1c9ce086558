#include "snapshot/snapshot_sink.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "snapshot/format.hpp"

#if defined(_WIN32)
#include <io.h>
#include <process.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace errata {
namespace {

bool sync_file(std::FILE* file) {
  if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
  return _commit(_fileno(file)) == 0;
#else
  return fsync(fileno(file)) == 0;
#endif
}

/// So that the rename survives a power cut. Windows has no such call; its rename is journalled.
bool sync_folder(const std::string& path) {
#if defined(_WIN32)
  (void)path;
  return true;
#else
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (handle < 0) return false;
  const bool synced = fsync(handle) == 0;
  ::close(handle);
  return synced;
#endif
}

/// A name that no other writer has, in this process or another.
std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> number{0};
#if defined(_WIN32)
  const int process = _getpid();
#else
  const int process = static_cast<int>(getpid());
#endif
  return path + "." + std::to_string(process) + "-" + std::to_string(++number) + ".new";
}

/// For the owner's eyes only, as far as the system has such a notion.
std::FILE* create_file(const std::string& path) {
#if defined(_WIN32)
  return std::fopen(path.c_str(), "wb");
#else
  const int handle = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return handle < 0 ? nullptr : fdopen(handle, "wb");
#endif
}

}  // namespace

FileSink::FileSink(std::string path) : path_(std::move(path)), beside_(name_beside(path_)) {}

FileSink::~FileSink() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(beside_.c_str());
}

Status FileSink::trouble(const char* what) const {
  return Status::fail(Code::kInvalidInput, std::string("Expected to ") + what +
                                               " the snapshot's file, received: " + std::strerror(errno));
}

Status FileSink::open() {
  file_ = create_file(beside_);
  if (file_ == nullptr) return trouble("create");
  std::setvbuf(file_, nullptr, _IOFBF, kSnapshotPiece);
  return {};
}

Status FileSink::append(const void* data, std::size_t bytes) {
  return std::fwrite(data, 1, bytes, file_) == bytes ? Status{} : trouble("write");
}

Status FileSink::replace_start(const void* data, std::size_t bytes) {
  return std::fseek(file_, 0, SEEK_SET) == 0 && std::fwrite(data, 1, bytes, file_) == bytes
             ? Status{}
             : trouble("write");
}

Status FileSink::finish() {
  if (!sync_file(file_)) return trouble("flush");
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed || std::rename(beside_.c_str(), path_.c_str()) != 0) {
    Status status = trouble("move");
    std::remove(beside_.c_str());
    return status;
  }
  return sync_folder(path_) ? Status{} : trouble("record the name of");
}

MemorySink::~MemorySink() {
  std::free(data_);
}

Status MemorySink::grow(std::size_t capacity) {
  // Large blocks are moved by the page table, not copied.
  void* const moved = std::realloc(data_, capacity);
  if (moved == nullptr)
    return Status::fail(Code::kOutOfMemory, "Expected memory for a snapshot, received none");
  data_ = static_cast<char*>(moved);
  capacity_ = capacity;
  return {};
}

Status MemorySink::append(const void* data, std::size_t bytes) {
  if (bytes > capacity_ - bytes_) {
    Status status = grow(std::max(bytes_ + bytes, capacity_ + capacity_ / 2));
    if (!status.ok()) return status;
  }
  std::memcpy(data_ + bytes_, data, bytes);
  bytes_ += bytes;
  return {};
}

Status MemorySink::replace_start(const void* data, std::size_t bytes) {
  std::memcpy(data_, data, bytes);
  return {};
}

Status MemorySink::finish() {
  return grow(bytes_);
}

void* MemorySink::release() {
  bytes_ = capacity_ = 0;
  return std::exchange(data_, nullptr);
}

}  // namespace errata
