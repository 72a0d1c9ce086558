#include <napi.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include "binding/arguments.hpp"
#include "binding/kernels.hpp"
#include "binding/partition_object.hpp"
#include "binding/snapshot_calls.hpp"
#include "binding/work_pool.hpp"
#include "simd/dispatch.hpp"

namespace errata::binding {
namespace {

struct Choice {
  const simd::Kernels* kernels = nullptr;
  Status status;

  Choice() { status = simd::choose(std::getenv("ERRATA_ISA"), &kernels); }
};

// Immutable after its first use, so that sharing it between environments is safe; everything else hangs on
// objects.
const Choice& choice() {
  static const Choice made;
  return made;
}

Napi::Value isa(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), active_kernels().name);
}

Napi::Value available_isas(const Napi::CallbackInfo& info) {
  const auto found = simd::available();
  auto names = Napi::Array::New(info.Env(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i) names.Set(static_cast<std::uint32_t>(i), found[i]->name);
  return names;
}

/// normalize(vector: Float32Array): in place, x / (norm + 1e-12). INVALID_VECTOR where an element is not
/// finite.
Napi::Value normalize(const Napi::CallbackInfo& info) {
  auto view = float_view(info[0], "vector");
  if (!simd::normalize_f32(active_kernels(), view.Data(), view.ElementLength())) {
    throw to_error(info.Env(), Status::fail(Code::kInvalidVector,
                                            "Expected finite numbers for vector, received NaN or infinity"));
  }
  return view;
}

/// dot(a, b: Float32Array): number, by the chosen float32 kernel. INVALID_VECTOR where the lengths differ.
Napi::Value dot(const Napi::CallbackInfo& info) {
  const auto a = float_view(info[0], "a");
  const auto b = float_view(info[1], "b");
  if (a.ElementLength() != b.ElementLength()) {
    throw to_error(info.Env(),
                   Status::fail(Code::kInvalidVector, "Expected " + std::to_string(a.ElementLength()) +
                                                          " numbers for b, received " +
                                                          std::to_string(b.ElementLength())));
  }
  return Napi::Number::New(info.Env(), active_kernels().dot_f32(a.Data(), b.Data(), a.ElementLength()));
}

/// createStop(timeoutMs?): a handle for searches that `cancelStop(handle)` or the time ends.
Napi::Value create_stop(const Napi::CallbackInfo& info) {
  constexpr std::size_t kLongestMs = 86'400'000;
  auto stop = std::make_unique<std::shared_ptr<StopSignal>>(std::make_shared<StopSignal>());
  if (!info[0].IsUndefined()) {
    const std::size_t ms = read_integer(info[0], "timeoutMs", 1, kLongestMs, 1);
    (*stop)->set_deadline(StopSignal::Clock::now() + std::chrono::milliseconds(ms));
  }
  using Handle = std::shared_ptr<StopSignal>;
  return Napi::External<Handle>::New(info.Env(), stop.release(),
                                     [](Napi::Env, Handle* handle) { delete handle; });
}

Napi::Value cancel_stop(const Napi::CallbackInfo& info) {
  const std::shared_ptr<StopSignal> stop = stop_of(info[0]);
  stop->cancel();
  WorkPool::of(info.Env()).end_queued(stop.get());
  return info.Env().Undefined();
}

/// endQueued(handle): what waits with it is settled at once, if it was cancelled or is late.
Napi::Value end_queued(const Napi::CallbackInfo& info) {
  WorkPool::of(info.Env()).end_queued(stop_of(info[0]).get());
  return info.Env().Undefined();
}

/// configurePool(threads, queue): of this environment, before its first asynchronous call; INVALID_CONFIG
/// later.
Napi::Value configure_pool(const Napi::CallbackInfo& info) {
  constexpr std::size_t kMost = 1 << 20;
  WorkPool& pool = WorkPool::of(info.Env());
  const WorkPool::Limits limits{read_integer(info[0], "threads", 1, 256, 2),
                                read_integer(info[1], "queue", 1, kMost, 1024)};
  const Status status = pool.configure(limits);
  if (!status.ok()) throw to_error(info.Env(), status);
  return info.Env().Undefined();
}

/// poolStats(): threads started, calls running and waiting.
Napi::Value pool_stats(const Napi::CallbackInfo& info) {
  const WorkPool::Counts counts = WorkPool::of(info.Env()).counts();
  auto object = Napi::Object::New(info.Env());
  object.Set("threads", Napi::Number::New(info.Env(), static_cast<double>(counts.threads)));
  object.Set("running", Napi::Number::New(info.Env(), static_cast<double>(counts.running)));
  object.Set("queued", Napi::Number::New(info.Env(), static_cast<double>(counts.queued)));
  return object;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  const Status& status = choose_kernels();
  if (!status.ok()) throw to_error(env, status);
  exports.Set("Partition", PartitionObject::define(env));
  exports.Set("isa", Napi::Function::New<isa>(env, "isa"));
  exports.Set("availableIsas", Napi::Function::New<available_isas>(env, "availableIsas"));
  exports.Set("normalize", Napi::Function::New<normalize>(env, "normalize"));
  exports.Set("dot", Napi::Function::New<dot>(env, "dot"));
  exports.Set("createStop", Napi::Function::New<create_stop>(env, "createStop"));
  exports.Set("cancelStop", Napi::Function::New<cancel_stop>(env, "cancelStop"));
  exports.Set("endQueued", Napi::Function::New<end_queued>(env, "endQueued"));
  exports.Set("configurePool", Napi::Function::New<configure_pool>(env, "configurePool"));
  exports.Set("poolStats", Napi::Function::New<pool_stats>(env, "poolStats"));
  exports.Set("pinSnapshot", Napi::Function::New<pin_snapshot>(env, "pinSnapshot"));
  exports.Set("unpinSnapshot", Napi::Function::New<unpin_snapshot>(env, "unpinSnapshot"));
  exports.Set("saveSnapshot", Napi::Function::New<save_snapshot>(env, "saveSnapshot"));
  exports.Set("allocateSnapshot", Napi::Function::New<allocate_snapshot>(env, "allocateSnapshot"));
  exports.Set("openSnapshot", Napi::Function::New<open_snapshot>(env, "openSnapshot"));
  return exports;
}

}  // namespace

const Status& choose_kernels() {
  return choice().status;
}
const simd::Kernels& active_kernels() {
  return *choice().kernels;
}

}  // namespace errata::binding

// The macro wants a plain name.
static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  return errata::binding::init(env, exports);
}
NODE_API_MODULE(errata_native, Init)
