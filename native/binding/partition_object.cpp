#include "binding/partition_object.hpp"

#include <utility>

#include "binding/arguments.hpp"
#include "binding/kernels.hpp"
#include "binding/work.hpp"
#include "snapshot/snapshot_reader.hpp"

namespace errata::binding {
namespace {

constexpr std::size_t kLargestDimensions = 65'536;
constexpr std::size_t kLargestCount = 0xffff'fffe;

struct PutTask {
  std::shared_ptr<Partition> partition;
  PutBatch batch;

  Status operator()() { return partition->put(batch); }
};

struct CountTask {
  std::shared_ptr<Partition> partition;
  std::vector<std::uint64_t> keys;
  bool compacts = false;
  std::size_t count = 0;

  Status operator()() {
    return compacts ? partition->compact(count) : partition->remove(keys.data(), keys.size(), count);
  }
};

struct RestoreTask {
  std::shared_ptr<Partition> partition;
  std::shared_ptr<Snapshot> snapshot;
  std::uint32_t number = 0;

  Status operator()() { return partition->restore(snapshot, number); }
};

struct VerifyTask {
  std::shared_ptr<Partition> partition;

  bool due() const { return !partition->verifying(); }
  Status operator()() { return partition->verified(); }
};

struct SettleTask {
  std::shared_ptr<Partition> partition;

  bool due() const { return !partition->busy(); }
  Status operator()() {
    partition->settle();
    return {};
  }
};

const auto kToNothing = [](Napi::Env env, const auto&) { return env.Undefined(); };
const auto kToCount = [](Napi::Env env, const CountTask& task) -> Napi::Value {
  return Napi::Number::New(env, static_cast<double>(task.count));
};

}  // namespace

Napi::Function PartitionObject::define(Napi::Env env) {
  return DefineClass(
      env, "Partition",
      {InstanceMethod<&PartitionObject::put>("put"), InstanceMethod<&PartitionObject::remove>("remove"),
       InstanceMethod<&PartitionObject::search>("search"),
       InstanceMethod<&PartitionObject::explain>("explain"),
       InstanceMethod<&PartitionObject::search_into>("searchInto"),
       InstanceMethod<&PartitionObject::time_search>("timeSearch"),
       InstanceMethod<&PartitionObject::search_batch>("searchBatch"),
       InstanceMethod<&PartitionObject::scores_of>("scoresOf"),
       InstanceMethod<&PartitionObject::try_scores_of>("tryScoresOf"),
       InstanceMethod<&PartitionObject::rows_of>("rowsOf"),
       InstanceMethod<&PartitionObject::compact>("compact"),
       InstanceMethod<&PartitionObject::restore>("restore"),
       InstanceMethod<&PartitionObject::verified>("verified"),
       InstanceMethod<&PartitionObject::settle>("settle"), InstanceMethod<&PartitionObject::stats>("stats"),
       InstanceMethod<&PartitionObject::close>("close")});
}

PartitionObject::PartitionObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PartitionObject>(info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsObject()) {
    throw to_error(
        env, Status::fail(Code::kInvalidInput, "Expected an object for options, received another type"));
  }
  const auto given = info[0].As<Napi::Object>();
  PartitionOptions options;
  options.dimensions = read_integer(given.Get("dimensions"), "dimensions", 1, kLargestDimensions, 0);
  if (options.dimensions == 0) {
    throw to_error(env,
                   Status::fail(Code::kInvalidInput, "Expected an integer for dimensions, received none"));
  }
  options.graph.connectivity = read_integer(given.Get("connectivity"), "connectivity", 2, 512, 16);
  options.graph.ef_construction = read_integer(given.Get("efConstruction"), "efConstruction", 1, 65'536, 128);
  options.ef_search = read_integer(given.Get("efSearch"), "efSearch", 1, 65'536, 64);
  options.graph_threshold =
      read_integer(given.Get("graphThreshold"), "graphThreshold", 1, kLargestCount, 50'000);
  options.build_threads = read_integer(given.Get("buildThreads"), "buildThreads", 0, Graph::kBuilders, 0);
  options.scan_threads = read_integer(given.Get("scanThreads"), "scanThreads", 0, 1024, 1);
  options.late_bytes =
      read_integer(given.Get("lateBytes"), "lateBytes", 0, kLargestCount, options.late_bytes);
  const Napi::Value codes = given.Get("codes");
  if (!codes.IsUndefined()) options.codes = codes.ToBoolean().Value();
  partition_ = std::make_shared<Partition>(options, active_kernels());
}

const std::shared_ptr<Partition>& PartitionObject::opened(Napi::Env env) const {
  if (!partition_) {
    throw to_error(env,
                   Status::fail(Code::kClosed, "Expected an open partition, received a call after close()"));
  }
  return partition_;
}

Napi::Value PartitionObject::put(const Napi::CallbackInfo& info) {
  PutTask task;
  task.partition = opened(info.Env());
  if (!info[0].IsObject()) {
    throw to_error(info.Env(), Status::fail(Code::kInvalidInput, "Expected an object for batch"));
  }
  const auto given = info[0].As<Napi::Object>();
  task.batch.keys = copy_keys(given.Get("keys"), "keys");
  const auto words = copy_uint32(given.Get("orders"), "orders");
  if (words.size() != task.batch.keys.size() * 4) {
    throw to_error(info.Env(),
                   Status::fail(Code::kInvalidInput, "Expected four words of orders for each key"));
  }
  for (std::size_t i = 0; i < words.size(); i += 4) {
    const auto join = [&words](std::size_t at) { return (std::uint64_t{words[at]} << 32) | words[at + 1]; };
    task.batch.orders.push_back({join(i), join(i + 2)});
  }
  task.batch.row_begin = copy_uint32(given.Get("rowBegin"), "rowBegin");
  task.batch.kinds = copy_bytes(given.Get("kinds"), "kinds");
  task.batch.vectors = copy_floats(given.Get("vectors"), "vectors", any_length);
  task.batch.tag_begin = copy_uint32(given.Get("tagBegin"), "tagBegin");
  task.batch.tags = copy_uint32(given.Get("tags"), "tags");
  return run_off_loop(info.Env(), Lane::kWrite, std::move(task), kToNothing);
}

Napi::Value PartitionObject::remove(const Napi::CallbackInfo& info) {
  CountTask task;
  task.partition = opened(info.Env());
  task.keys = copy_keys(info[0], "keys");
  return run_off_loop(info.Env(), Lane::kWrite, std::move(task), kToCount);
}

Napi::Value PartitionObject::compact(const Napi::CallbackInfo& info) {
  CountTask task;
  task.partition = opened(info.Env());
  task.compacts = true;
  return run_off_loop(info.Env(), Lane::kWrite, std::move(task), kToCount);
}

Napi::Value PartitionObject::restore(const Napi::CallbackInfo& info) {
  RestoreTask task;
  task.partition = opened(info.Env());
  if (!info[0].IsExternal()) {
    throw to_error(info.Env(), Status::fail(Code::kInvalidInput, "Expected a snapshot's handle for handle"));
  }
  task.snapshot = *info[0].As<Napi::External<std::shared_ptr<Snapshot>>>().Data();
  task.number = static_cast<std::uint32_t>(read_integer(info[1], "number", 0, kLargestCount, 0));
  return run_off_loop(info.Env(), Lane::kWrite, std::move(task), kToNothing);
}

Napi::Value PartitionObject::verified(const Napi::CallbackInfo& info) {
  VerifyTask task{opened(info.Env())};
  return run_off_loop(info.Env(), Lane::kWait, std::move(task), kToNothing);
}

Napi::Value PartitionObject::settle(const Napi::CallbackInfo& info) {
  SettleTask task{opened(info.Env())};
  return run_off_loop(info.Env(), Lane::kWait, std::move(task), kToNothing);
}

Napi::Value PartitionObject::stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const PartitionStats stats = opened(env)->stats();
  auto object = Napi::Object::New(env);
  const auto set = [&object, env](const char* name, std::size_t value) {
    object.Set(name, Napi::Number::New(env, static_cast<double>(value)));
  };
  set("keys", stats.keys);
  set("rows", stats.rows);
  set("tombstones", stats.tombstones);
  set("keptAside", stats.kept_aside);
  set("compactions", stats.compactions);
  set("audits", stats.audits);
  set("repairs", stats.repairs);
  set("rowBytes", stats.row_bytes);
  set("codeBytes", stats.code_bytes);
  set("graphBytes", stats.graph_bytes);
  set("filterBytes", stats.filter_bytes);
  set("bookkeepingBytes", stats.bookkeeping_bytes);
  set("cachedFilters", stats.cached_filters);
  set("filterHits", stats.filter_hits);
  set("filterMisses", stats.filter_misses);
  object.Set("longestHoldUs", Napi::Number::New(env, stats.longest_hold_us));
  object.Set("hasGraph", Napi::Boolean::New(env, stats.has_graph));
  object.Set("building", Napi::Boolean::New(env, stats.building));
  return object;
}

Napi::Value PartitionObject::close(const Napi::CallbackInfo& info) {
  if (partition_) partition_->close();
  partition_.reset();
  return info.Env().Undefined();
}

}  // namespace errata::binding
