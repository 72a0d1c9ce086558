#include <algorithm>
#include <chrono>
#include <utility>

#include "binding/arguments.hpp"
#include "binding/partition_object.hpp"
#include "binding/work.hpp"

// PartitionObject's searches.

namespace errata::binding {
namespace {

// Below this estimate the hop to a worker and back (20 to 50 us) costs more than it spares the event loop.
constexpr double kSynchronousUs = 200;
/// As many keys take about 30 us.
constexpr std::size_t kSynchronousRows = 64;
constexpr std::size_t kLargestCount = 0xffff'fffe;

Napi::Value to_object(Napi::Env env, const Answer& answer) {
  const std::size_t n = answer.hits.size();
  auto keys = Napi::Float64Array::New(env, n);
  auto scores = Napi::Float32Array::New(env, n);
  auto kinds = Napi::Uint8Array::New(env, n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = static_cast<double>(answer.hits[i].key);
    scores[i] = answer.hits[i].score;
    kinds[i] = answer.hits[i].kind;
  }
  auto object = Napi::Object::New(env);
  object.Set("keys", keys);
  object.Set("scores", scores);
  object.Set("kinds", kinds);
  object.Set("plan", Napi::String::New(env, answer.plan));
  object.Set("exhaustive", Napi::Boolean::New(env, answer.exhaustive));
  object.Set("compared", Napi::Number::New(env, static_cast<double>(answer.compared)));
  object.Set("rescored", Napi::Number::New(env, static_cast<double>(answer.rescored)));
  return object;
}

Way read_way(const Napi::Value& value) {
  if (value.IsUndefined()) return Way::kPlanned;
  const std::string name = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  if (name == "scan") return Way::kScan;
  if (name == "graph") return Way::kGraph;
  throw to_error(value.Env(),
                 Status::fail(Code::kInvalidInput, "Expected scan or graph for plan, received another"));
}

/// The answer with what the planner weighed.
Napi::Value to_explained(Napi::Env env, const Answer& answer) {
  const auto object = to_object(env, answer).As<Napi::Object>();
  const PlanReport& report = answer.report;
  auto explanation = Napi::Object::New(env);
  const auto set = [&explanation, env](const char* name, double value) {
    explanation.Set(name, Napi::Number::New(env, value));
  };
  set("estimatedUs", report.estimated_us);
  set("tookUs", report.took_us);
  set("scanUs", report.scan_us);
  set("graphUs", report.graph_us);
  set("allowedRows", static_cast<double>(report.allowed_rows));
  set("allowedKeys", static_cast<double>(report.allowed_keys));
  set("efSearch", static_cast<double>(report.ef));
  set("budget", static_cast<double>(report.budget));
  set("threads", static_cast<double>(report.threads));
  object.Set("explanation", explanation);
  return object;
}

Napi::Value to_array(Napi::Env env, const std::vector<double>& values) {
  auto array = Napi::Float64Array::New(env, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) array[i] = values[i];
  return array;
}

struct SearchTask {
  std::shared_ptr<Partition> partition;
  std::shared_ptr<StopSignal> stop;  // null: nothing ends it early
  std::vector<float> vector;
  Query query;
  Answer answer;

  Status operator()() {
    query.vector = vector.data();
    query.stop = stop.get();
    // It may have waited for a thread: what nobody waits for any more is not begun.
    if (stop && stop->stopped()) return stop->status();
    return partition->search(query, answer);
  }
};

struct BatchTask {
  std::shared_ptr<Partition> partition;
  std::shared_ptr<StopSignal> stop;
  std::vector<float> vectors;
  Query query;
  std::vector<Answer> answers;

  Status operator()() {
    query.stop = stop.get();
    if (stop && stop->stopped()) return stop->status();
    return partition->search_batch(vectors.data(), vectors.size() / partition->options().dimensions, query,
                                   answers);
  }
};

struct ScoresTask {
  std::shared_ptr<Partition> partition;
  std::vector<float> vector;
  std::vector<std::uint64_t> keys;
  std::vector<double> scores;

  Status operator()() {
    scores.resize(keys.size());
    return partition->scores_of(vector.data(), keys.data(), keys.size(), scores.data());
  }
};

struct RowsTask {
  std::shared_ptr<Partition> partition;
  std::vector<std::uint64_t> keys;
  std::vector<float> rows;

  Status operator()() {
    rows.resize(keys.size() * kRowKinds * partition->options().dimensions);
    return partition->rows_of(keys.data(), keys.size(), rows.data());
  }
};

}  // namespace

Napi::Value PartitionObject::search(const Napi::CallbackInfo& info) {
  return run_search(info, to_object);
}

Napi::Value PartitionObject::explain(const Napi::CallbackInfo& info) {
  return run_search(info, to_explained);
}

Napi::Value PartitionObject::run_search(const Napi::CallbackInfo& info,
                                        Napi::Value (*convert)(Napi::Env, const Answer&)) {
  const Napi::Env env = info.Env();
  SearchTask task;
  task.partition = opened(env);
  task.vector = copy_floats(info[0], "vector", task.partition->options().dimensions);
  task.query.vector = task.vector.data();
  task.query.k = read_integer(info[1], "k", 1, kLargestCount, 0);
  task.query.ef = read_integer(info[2], "efSearch", 1, 65'536, 0);
  if (!info[3].IsUndefined()) task.query.filter = copy_uint32(info[3], "filter");
  if (!info[4].IsUndefined()) task.stop = stop_of(info[4]);
  task.query.way = read_way(info[5]);
  if (const auto status = task.partition->try_search(task.query, kSynchronousUs, task.answer)) {
    if (!status->ok()) throw to_error(env, *status);
    return convert(env, task.answer);
  }
  std::shared_ptr<StopSignal> stop = task.stop;
  return run_off_loop(
      env, Lane::kSearch, std::move(task),
      [convert](Napi::Env out, const SearchTask& done) { return convert(out, done.answer); },
      std::move(stop));
}

Napi::Value PartitionObject::search_into(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<Partition>& partition = opened(env);
  Query query;
  query.vector = view_of<float>(info[0], "vector", partition->options().dimensions, Code::kInvalidVector);
  query.k = read_integer(info[1], "k", 1, kLargestCount, 0);
  query.ef = read_integer(info[2], "efSearch", 1, 65'536, 0);
  if (!info[3].IsUndefined()) query.filter = copy_uint32(info[3], "filter");
  double* keys = view_of<double>(info[4], "keys", query.k, Code::kInvalidInput);
  float* scores = view_of<float>(info[5], "scores", query.k, Code::kInvalidInput);
  std::uint8_t* kinds = view_of<std::uint8_t>(info[6], "kinds", query.k, Code::kInvalidInput);
  query.way = read_way(info[7]);
  // Its room is used again by the next call on this thread.
  thread_local Answer answer;
  const Status status = partition->search(query, answer);
  if (!status.ok()) throw to_error(env, status);
  for (std::size_t i = 0; i < answer.hits.size(); ++i) {
    keys[i] = static_cast<double>(answer.hits[i].key);
    scores[i] = answer.hits[i].score;
    kinds[i] = answer.hits[i].kind;
  }
  return Napi::Number::New(env, static_cast<double>(answer.hits.size()));
}

/// Microseconds of one of `repeats` searches, without the way here and back: what `searchInto` takes more is
/// the binding's.
Napi::Value PartitionObject::time_search(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<Partition>& partition = opened(env);
  Query query;
  query.vector = view_of<float>(info[0], "vector", partition->options().dimensions, Code::kInvalidVector);
  query.k = read_integer(info[1], "k", 1, kLargestCount, 0);
  const std::size_t repeats = read_integer(info[2], "repeats", 1, kLargestCount, 1);
  Answer answer;
  const auto start = StopSignal::Clock::now();
  for (std::size_t i = 0; i < repeats; ++i) {
    const Status status = partition->search(query, answer);
    if (!status.ok()) throw to_error(env, status);
  }
  const std::chrono::duration<double, std::micro> took = StopSignal::Clock::now() - start;
  return Napi::Number::New(env, took.count() / static_cast<double>(repeats));
}

Napi::Value PartitionObject::search_batch(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  BatchTask task;
  task.partition = opened(env);
  task.vectors = copy_floats(info[0], "vectors", any_length);
  if (task.vectors.size() % task.partition->options().dimensions != 0) {
    throw to_error(env, Status::fail(Code::kInvalidVector, "Expected whole rows of dimensions for vectors"));
  }
  task.query.k = read_integer(info[1], "k", 1, kLargestCount, 0);
  if (!info[2].IsUndefined()) task.query.filter = copy_uint32(info[2], "filter");
  if (!info[3].IsUndefined()) task.stop = stop_of(info[3]);
  std::shared_ptr<StopSignal> stop = task.stop;
  const auto convert = [](Napi::Env out, const BatchTask& done) {
    auto list = Napi::Array::New(out, done.answers.size());
    for (std::size_t i = 0; i < done.answers.size(); ++i) {
      list.Set(static_cast<std::uint32_t>(i), to_object(out, done.answers[i]));
    }
    return list;
  };
  return run_off_loop(env, Lane::kSearch, std::move(task), convert, std::move(stop));
}

Napi::Value PartitionObject::scores_of(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ScoresTask task;
  task.partition = opened(env);
  task.vector = copy_floats(info[0], "vector", task.partition->options().dimensions);
  task.keys = copy_keys(info[1], "keys");
  return run_off_loop(env, Lane::kSearch, std::move(task),
                      [](Napi::Env out, const ScoresTask& done) { return to_array(out, done.scores); });
}

Napi::Value PartitionObject::try_scores_of(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<Partition>& partition = opened(env);
  const float* vector =
      view_of<float>(info[0], "vector", partition->options().dimensions, Code::kInvalidVector);
  const std::vector<std::uint64_t> keys = copy_keys(info[1], "keys");
  if (keys.size() > kSynchronousRows) return env.Undefined();
  std::vector<double> scores(keys.size());
  const auto status = partition->try_scores_of(vector, keys.data(), keys.size(), scores.data());
  if (!status) return env.Undefined();
  if (!status->ok()) throw to_error(env, *status);
  return to_array(env, scores);
}

Napi::Value PartitionObject::rows_of(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  RowsTask task;
  task.partition = opened(env);
  task.keys = copy_keys(info[0], "keys");
  // Some 30 KB: copied here, straight to where JavaScript reads it, unless a writer is at work.
  if (task.keys.size() <= kSynchronousRows) {
    auto rows =
        Napi::Float32Array::New(env, task.keys.size() * kRowKinds * task.partition->options().dimensions);
    if (const auto status = task.partition->try_rows_of(task.keys.data(), task.keys.size(), rows.Data())) {
      if (!status->ok()) throw to_error(env, *status);
      return rows;
    }
  }
  return run_off_loop(env, Lane::kSearch, std::move(task), [](Napi::Env out, const RowsTask& done) {
    auto rows = Napi::Float32Array::New(out, done.rows.size());
    std::copy(done.rows.begin(), done.rows.end(), rows.Data());
    return rows;
  });
}

}  // namespace errata::binding
