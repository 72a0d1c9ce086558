#include "binding/snapshot_calls.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "binding/arguments.hpp"
#include "binding/partition_object.hpp"
#include "binding/work.hpp"
#include "snapshot/snapshot_reader.hpp"
#include "snapshot/snapshot_writer.hpp"

namespace errata::binding {
namespace {

constexpr std::size_t kLargestInteger = 9007199254740991;  // 2^53 - 1
constexpr unsigned kMostThreads = 8;                       // memory is full with fewer

using MemoryHandle = std::shared_ptr<SnapshotMemory>;

/// Partitions as of one moment. Ends with the last who knows it.
class Pins {
 public:
  Pins() = default;
  ~Pins() {
    for (const auto& partition : pinned_) partition->unpin();
  }
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;

  Status add(std::shared_ptr<Partition> partition, bool stops_background) {
    pinned_.reserve(pinned_.size() + 1);
    Status status = partition->pin(stops_background);
    if (status.ok()) pinned_.push_back(std::move(partition));
    return status;
  }
  const std::vector<std::shared_ptr<Partition>>& all() const { return pinned_; }

 private:
  std::vector<std::shared_ptr<Partition>> pinned_;
};

using PinsHandle = std::shared_ptr<Pins>;

struct PinTask {
  std::vector<std::shared_ptr<Partition>> partitions;
  bool stops_background = false;
  PinsHandle pins;

  Status operator()() {
    pins = std::make_shared<Pins>();
    for (auto& partition : partitions) {
      Status status = pins->add(partition, stops_background);
      if (!status.ok()) {
        pins.reset();
        return status;
      }
    }
    return {};
  }
};

struct UnpinTask {
  PinsHandle pins;

  Status operator()() {
    pins.reset();
    return {};
  }
};

struct SaveTask {
  std::string path;  // empty: into memory
  SnapshotFacts facts;
  std::shared_ptr<SnapshotMemory> directory;
  std::size_t directory_bytes = 0;
  PinsHandle pins;
  std::uint64_t bytes = 0;
  std::unique_ptr<MemorySink> memory;

  Status operator()() {
    const Status status = to_sink();
    // Now, not when JavaScript's collector comes by.
    pins.reset();
    return status;
  }

  Status to_sink() {
    // Links of all first: until they are copied, writers wait with linking.
    for (const auto& partition : pins->all()) {
      Status status = partition->copy_links();
      if (!status.ok()) return status;
    }
    if (path.empty()) {
      memory = std::make_unique<MemorySink>();
      return write(*memory);
    }
    FileSink file(path);
    return write(file);
  }

  Status write(SnapshotSink& sink) {
    SnapshotWriter writer(sink, facts);
    Status status = writer.open();
    if (!status.ok()) return status;
    writer.begin_section(SectionKind::kDirectory, 0);
    status = writer.append(directory->data(), directory_bytes);
    if (status.ok()) status = writer.end_section();
    for (std::uint32_t i = 0; status.ok() && i < pins->all().size(); ++i) {
      status = pins->all()[i]->save(writer, i);
    }
    return status.ok() ? writer.finish(bytes) : status;
  }
};

struct OpenTask {
  std::string path;
  std::shared_ptr<SnapshotMemory> memory;  // instead of a path
  SnapshotWanted wanted;
  unsigned threads = 1;
  Refusal refusal = Refusal::kNone;
  std::string detail;
  std::shared_ptr<Snapshot> snapshot;

  Status operator()() {
    snapshot = memory != nullptr ? Snapshot::open(memory, wanted, threads, refusal, detail)
                                 : Snapshot::open(path, wanted, threads, refusal, detail);
    return {};
  }
};

Napi::Object options_of(const Napi::CallbackInfo& info) {
  if (info[0].IsObject()) return info[0].As<Napi::Object>();
  throw to_error(info.Env(), Status::fail(Code::kInvalidInput, "Expected an object for options"));
}

std::string read_text(const Napi::Object& options, const char* name) {
  const Napi::Value value = options.Get(name);
  if (value.IsString()) return value.As<Napi::String>().Utf8Value();
  throw to_error(options.Env(),
                 Status::fail(Code::kInvalidInput, std::string("Expected a string for ") + name));
}

std::size_t read_number(const Napi::Object& options, const char* name) {
  return read_integer(options.Get(name), name, 0, kLargestInteger, 0);
}

Napi::Value to_opened(Napi::Env env, const OpenTask& task) {
  auto object = Napi::Object::New(env);
  object.Set("refusal", Napi::String::New(env, refusal_name(task.refusal)));
  object.Set("detail", Napi::String::New(env, task.detail));
  if (!task.snapshot) return object;
  const SnapshotHeader& header = task.snapshot->header();
  const auto set = [&object, env](const char* name, std::uint64_t value) {
    object.Set(name, Napi::Number::New(env, static_cast<double>(value)));
  };
  set("revision", header.revision);
  set("createdMs", header.created_ms);
  set("partitions", header.partitions);
  set("rows", header.rows);
  set("keys", header.keys);
  set("bytes", header.file_bytes);
  SectionView view;
  if (task.snapshot->section(SectionKind::kDirectory, 0, view)) {
    object.Set("directory", Napi::Buffer<std::uint8_t>::Copy(
                                env, reinterpret_cast<const std::uint8_t*>(view.data), view.bytes));
  }
  using Handle = std::shared_ptr<Snapshot>;
  object.Set("handle", Napi::External<Handle>::New(env, new Handle(task.snapshot),
                                                   [](Napi::Env, Handle* handle) { delete handle; }));
  return object;
}

}  // namespace

Napi::Value pin_snapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsArray()) {
    throw to_error(env, Status::fail(Code::kInvalidInput, "Expected an array for partitions"));
  }
  PinTask task;
  task.stops_background = info[1].ToBoolean().Value();
  const auto list = info[0].As<Napi::Array>();
  for (std::uint32_t i = 0; i < list.Length(); ++i) {
    const Napi::Value value = list[i];
    if (!value.IsObject()) {
      throw to_error(env, Status::fail(Code::kInvalidInput, "Expected partitions in partitions"));
    }
    task.partitions.push_back(PartitionObject::Unwrap(value.As<Napi::Object>())->opened(env));
  }
  // Stopping the background and verifying wait for others, but not for long work on this thread.
  return run_off_loop(env, Lane::kWrite, std::move(task), [](Napi::Env out, const PinTask& done) {
    return Napi::External<PinsHandle>::New(out, new PinsHandle(done.pins),
                                           [](Napi::Env, PinsHandle* handle) { delete handle; });
  });
}

Napi::Value unpin_snapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsExternal()) {
    throw to_error(env, Status::fail(Code::kInvalidInput, "Expected what pinSnapshot gave for pins"));
  }
  UnpinTask task;
  task.pins = std::exchange(*info[0].As<Napi::External<PinsHandle>>().Data(), nullptr);
  // It waits for writers.
  return run_off_loop(env, Lane::kWrite, std::move(task),
                      [](Napi::Env out, const UnpinTask&) -> Napi::Value { return out.Undefined(); });
}

Napi::Value save_snapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object options = options_of(info);
  SaveTask task;
  if (!options.Get("path").IsUndefined()) task.path = read_text(options, "path");
  task.facts.model = read_text(options, "model");
  task.facts.store = read_text(options, "store");
  task.facts.revision = read_number(options, "revision");
  task.facts.created_ms = read_number(options, "createdMs");
  task.facts.dimensions = static_cast<std::uint32_t>(read_number(options, "dimensions"));
  task.facts.codes = options.Get("codes").ToBoolean().Value();
  if (!info[1].IsExternal()) {
    throw to_error(env,
                   Status::fail(Code::kInvalidInput, "Expected what allocateSnapshot made for directory"));
  }
  task.directory = *info[1].As<Napi::External<MemoryHandle>>().Data();
  task.directory_bytes = read_integer(options.Get("directoryBytes"), "directoryBytes", 0,
                                      task.directory->size(), task.directory->size());
  if (!info[2].IsExternal()) {
    throw to_error(env, Status::fail(Code::kInvalidInput, "Expected what pinSnapshot gave for pins"));
  }
  task.pins = std::exchange(*info[2].As<Napi::External<PinsHandle>>().Data(), nullptr);
  if (task.pins == nullptr) {
    throw to_error(env, Status::fail(Code::kInvalidInput, "Expected pins that no save has used"));
  }
  return run_off_loop(env, Lane::kSave, std::move(task),
                      [](Napi::Env out, const SaveTask& done) -> Napi::Value {
                        if (!done.memory) return Napi::Number::New(out, static_cast<double>(done.bytes));
                        const std::size_t bytes = done.memory->size();
                        return Napi::ArrayBuffer::New(out, done.memory->release(), bytes,
                                                      [](Napi::Env, void* data) { std::free(data); });
                      });
}

Napi::Value allocate_snapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::size_t bytes = read_integer(info[0], "bytes", 1, kLargestInteger, 1);
  const MemoryHandle memory = SnapshotMemory::allocate(bytes);
  if (memory == nullptr) {
    throw to_error(env, Status::fail(Code::kOutOfMemory, "Expected memory for a snapshot, received none"));
  }
  const auto keep = [](Napi::Env, void*, MemoryHandle* handle) { delete handle; };
  auto object = Napi::Object::New(env);
  object.Set("bytes", Napi::ArrayBuffer::New(env, memory->data(), bytes, keep, new MemoryHandle(memory)));
  object.Set("memory",
             Napi::External<MemoryHandle>::New(env, new MemoryHandle(memory),
                                               [](Napi::Env, MemoryHandle* handle) { delete handle; }));
  return object;
}

Napi::Value open_snapshot(const Napi::CallbackInfo& info) {
  const Napi::Object options = options_of(info);
  OpenTask task;
  const Napi::Value memory = options.Get("memory");
  if (memory.IsUndefined()) {
    task.path = read_text(options, "path");
  } else if (memory.IsExternal()) {
    task.memory = *memory.As<Napi::External<MemoryHandle>>().Data();
  } else {
    throw to_error(info.Env(),
                   Status::fail(Code::kInvalidInput, "Expected what allocateSnapshot made for memory"));
  }
  task.wanted.model = read_text(options, "model");
  task.wanted.store = read_text(options, "store");
  task.wanted.dimensions = static_cast<std::uint32_t>(read_number(options, "dimensions"));
  task.wanted.codes = options.Get("codes").ToBoolean().Value();
  task.threads = std::max(1u, std::min(kMostThreads, std::thread::hardware_concurrency()));
  return run_off_loop(info.Env(), Lane::kWrite, std::move(task), to_opened);
}

}  // namespace errata::binding
