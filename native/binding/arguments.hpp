#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/status.hpp"
#include "index/stop_signal.hpp"

namespace errata::binding {

/// A JavaScript error with the status's code in its `code` property.
Napi::Error to_error(Napi::Env env, const Status& status);

/// Reads a typed array of exactly the given element type; `length` (unless `any_length`) must match. Copies,
/// so that nothing JavaScript does later reaches a worker; respects byteOffset; a detached buffer counts as
/// length 0. Throws INVALID_INPUT (INVALID_VECTOR for float32) otherwise.
constexpr std::size_t any_length = static_cast<std::size_t>(-1);
std::vector<float> copy_floats(const Napi::Value& value, const char* name, std::size_t length);
std::vector<std::uint32_t> copy_uint32(const Napi::Value& value, const char* name);
std::vector<std::uint8_t> copy_bytes(const Napi::Value& value, const char* name);
/// Keys come as float64, which holds integers up to 2^53 exactly; anything else is INVALID_INPUT.
std::vector<std::uint64_t> copy_keys(const Napi::Value& value, const char* name);

/// The elements themselves, for work that ends before the call does; respects byteOffset. INVALID_VECTOR or
/// INVALID_INPUT (`code`) for another type, or fewer elements than `length`, as a detached buffer has none.
template <typename Element>
Element* view_of(const Napi::Value& value, const char* name, std::size_t length, Code code);

/// What `createStop` made.
std::shared_ptr<StopSignal> stop_of(const Napi::Value& value);

/// The view itself, for in-place work on the event loop.
Napi::Float32Array float_view(const Napi::Value& value, const char* name);

/// An integer within [low, high]; `fallback` where it is undefined.
std::size_t read_integer(const Napi::Value& value, const char* name, std::size_t low, std::size_t high,
                         std::size_t fallback);

}  // namespace errata::binding
