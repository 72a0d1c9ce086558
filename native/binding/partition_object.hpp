#pragma once

#include <napi.h>

#include <memory>

#include "index/partition.hpp"

namespace errata::binding {

/// JavaScript's handle on a Partition; its interface is `NativePartition` in
/// src/adapters/native/load-addon.ts. Work in flight shares ownership, so closing or collecting the handle
/// never pulls memory from under it.
class PartitionObject : public Napi::ObjectWrap<PartitionObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit PartitionObject(const Napi::CallbackInfo& info);

  /// Throws CLOSED after close().
  const std::shared_ptr<Partition>& opened(Napi::Env env) const;

 private:
  Napi::Value put(const Napi::CallbackInfo& info);
  Napi::Value remove(const Napi::CallbackInfo& info);
  Napi::Value search(const Napi::CallbackInfo& info);
  Napi::Value explain(const Napi::CallbackInfo& info);
  Napi::Value search_into(const Napi::CallbackInfo& info);
  Napi::Value time_search(const Napi::CallbackInfo& info);
  Napi::Value search_batch(const Napi::CallbackInfo& info);
  Napi::Value scores_of(const Napi::CallbackInfo& info);
  Napi::Value try_scores_of(const Napi::CallbackInfo& info);
  Napi::Value rows_of(const Napi::CallbackInfo& info);
  Napi::Value compact(const Napi::CallbackInfo& info);
  Napi::Value restore(const Napi::CallbackInfo& info);
  Napi::Value verified(const Napi::CallbackInfo& info);
  Napi::Value settle(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  Napi::Value run_search(const Napi::CallbackInfo& info, Napi::Value (*convert)(Napi::Env, const Answer&));

  std::shared_ptr<Partition> partition_;
};

}  // namespace errata::binding
