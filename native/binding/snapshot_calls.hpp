#pragma once

#include <napi.h>

namespace errata::binding {

/// pinSnapshot(partitions: Partition[], stopsBackground): Promise of pins, for `saveSnapshot`.
Napi::Value pin_snapshot(const Napi::CallbackInfo& info);

/// unpinSnapshot(pins): Promise<void>; nothing where a save has used them.
Napi::Value unpin_snapshot(const Napi::CallbackInfo& info);

/// saveSnapshot(options, directory, pins): Promise<number>, the file's bytes. `directory` is the memory of
/// allocateSnapshot. Without a path: Promise<ArrayBuffer>, the bytes. `NativeAddon.saveSnapshot` of
/// src/adapters/native/load-addon.ts.
Napi::Value save_snapshot(const Napi::CallbackInfo& info);

/// allocateSnapshot(bytes): memory to fill and then to open instead of a path. OUT_OF_MEMORY where there is
/// none.
Napi::Value allocate_snapshot(const Napi::CallbackInfo& info);

/// openSnapshot(options): Promise of what `NativeAddon.openSnapshot` says; its `handle` is for
/// `Partition.restore`.
Napi::Value open_snapshot(const Napi::CallbackInfo& info);

}  // namespace errata::binding
