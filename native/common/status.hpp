#pragma once

#include <string>
#include <utility>

namespace errata {

/// Why a call was refused. The names are those of `src/domain/errors.ts`, save OUT_OF_MEMORY, which the
/// adapter reports as INDEX_UNAVAILABLE.
enum class Code {
  kOk,
  kInvalidVector,
  kInvalidInput,
  kInvalidConfig,
  kClosed,
  kOutOfMemory,
  kAborted,
  kDeadline,
  kQueueFull,
  kCorrupt
};

inline const char* code_name(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kInvalidVector:
      return "INVALID_VECTOR";
    case Code::kInvalidInput:
      return "INVALID_INPUT";
    case Code::kInvalidConfig:
      return "INVALID_CONFIG";
    case Code::kClosed:
      return "CLOSED";
    case Code::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case Code::kAborted:
      return "ABORTED";
    case Code::kDeadline:
      return "TIMED_OUT";
    case Code::kQueueFull:
      return "QUEUE_FULL";
    case Code::kCorrupt:
      return "CORRUPT_RECORD";
  }
  return "INTERNAL";
}

/// Result of a call that has nothing else to say. Texts follow "Expected X for NAME, received Y".
struct [[nodiscard]] Status {
  Code code = Code::kOk;
  std::string message;

  bool ok() const { return code == Code::kOk; }
  static Status fail(Code code, std::string message) { return {code, std::move(message)}; }
};

}  // namespace errata
