#include "binding/arguments.hpp"

#include <cmath>

namespace errata::binding {
namespace {

constexpr double kLargestExact = 9007199254740992.0;  // 2^53

[[noreturn]] void refuse(Napi::Env env, Code code, std::string message) {
  throw to_error(env, Status::fail(code, std::move(message)));
}

template <typename Element>
std::vector<Element> copy_array(const Napi::Value& value, napi_typedarray_type type, const char* type_name,
                                const char* name, Code code) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    refuse(value.Env(), code,
           std::string("Expected ") + type_name + " for " + name + ", received another type");
  }
  const auto view = value.As<Napi::TypedArrayOf<Element>>();
  const Element* data = view.Data();
  return data == nullptr ? std::vector<Element>() : std::vector<Element>(data, data + view.ElementLength());
}

template <typename Element>
constexpr napi_typedarray_type type_of = napi_float64_array;
template <>
constexpr napi_typedarray_type type_of<float> = napi_float32_array;
template <>
constexpr napi_typedarray_type type_of<std::uint8_t> = napi_uint8_array;

}  // namespace

template <typename Element>
Element* view_of(const Napi::Value& value, const char* name, std::size_t length, Code code) {
  napi_typedarray_type type = napi_int8_array;
  std::size_t elements = 0;
  void* data = nullptr;
  // One call for all three; the wrapper class would make one each.
  const napi_status status =
      napi_get_typedarray_info(value.Env(), value, &type, &elements, &data, nullptr, nullptr);
  if (status != napi_ok || type != type_of<Element>) {
    refuse(value.Env(), code,
           std::string("Expected another typed array for ") + name + ", received another type");
  }
  if (elements < length || data == nullptr) {
    refuse(value.Env(), code,
           "Expected at least " + std::to_string(length) + " elements for " + name + ", received " +
               std::to_string(elements));
  }
  return static_cast<Element*>(data);
}
template double* view_of(const Napi::Value&, const char*, std::size_t, Code);
template float* view_of(const Napi::Value&, const char*, std::size_t, Code);
template std::uint8_t* view_of(const Napi::Value&, const char*, std::size_t, Code);

std::shared_ptr<StopSignal> stop_of(const Napi::Value& value) {
  if (!value.IsExternal()) {
    refuse(value.Env(), Code::kInvalidInput, "Expected a stop of createStop for stop, received another type");
  }
  return *value.As<Napi::External<std::shared_ptr<StopSignal>>>().Data();
}

Napi::Error to_error(Napi::Env env, const Status& status) {
  Napi::Error error = Napi::Error::New(env, status.message);
  error.Set("code", Napi::String::New(env, code_name(status.code)));
  return error;
}

std::vector<float> copy_floats(const Napi::Value& value, const char* name, std::size_t length) {
  auto copy = copy_array<float>(value, napi_float32_array, "Float32Array", name, Code::kInvalidVector);
  if (length != any_length && copy.size() != length) {
    refuse(value.Env(), Code::kInvalidVector,
           "Expected " + std::to_string(length) + " numbers for " + name + ", received " +
               std::to_string(copy.size()));
  }
  return copy;
}

std::vector<std::uint32_t> copy_uint32(const Napi::Value& value, const char* name) {
  return copy_array<std::uint32_t>(value, napi_uint32_array, "Uint32Array", name, Code::kInvalidInput);
}

std::vector<std::uint8_t> copy_bytes(const Napi::Value& value, const char* name) {
  return copy_array<std::uint8_t>(value, napi_uint8_array, "Uint8Array", name, Code::kInvalidInput);
}

std::vector<std::uint64_t> copy_keys(const Napi::Value& value, const char* name) {
  const auto numbers =
      copy_array<double>(value, napi_float64_array, "Float64Array", name, Code::kInvalidInput);
  std::vector<std::uint64_t> keys;
  keys.reserve(numbers.size());
  for (const double number : numbers) {
    if (!(number >= 0 && number < kLargestExact) || number != std::floor(number)) {
      refuse(value.Env(), Code::kInvalidInput, std::string("Expected integers from 0 to 2^53 for ") + name);
    }
    keys.push_back(static_cast<std::uint64_t>(number));
  }
  return keys;
}

Napi::Float32Array float_view(const Napi::Value& value, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
    refuse(value.Env(), Code::kInvalidVector,
           std::string("Expected Float32Array for ") + name + ", received another type");
  }
  return value.As<Napi::Float32Array>();
}

std::size_t read_integer(const Napi::Value& value, const char* name, std::size_t low, std::size_t high,
                         std::size_t fallback) {
  if (value.IsUndefined()) return fallback;
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high)) ||
      number != std::floor(number)) {
    refuse(
        value.Env(), Code::kInvalidInput,
        "Expected an integer from " + std::to_string(low) + " to " + std::to_string(high) + " for " + name);
  }
  return static_cast<std::size_t>(number);
}

}  // namespace errata::binding
