#pragma once

#include <cstddef>
#include <cstdint>

namespace errata::bench {

/// What the machine could do at most with one instruction set: upper bounds that the kernels are held
/// against. A null pointer: there is no such bound for this set (scalar code is whatever the compiler makes
/// of it).
struct Limits {
  /// Reads `bytes` bytes (a multiple of 256) with the set's widest loads and gives something that depends on
  /// all of them: the bandwidth of whatever level of memory they lie in.
  std::uint64_t (*read)(const std::uint8_t* data, std::size_t bytes);

  /// `steps` times ten independent fused multiply-adds on registers; `f32_flops` floating-point operations a
  /// step.
  float (*multiply_add_f32)(std::size_t steps);
  double f32_flops;

  /// The same with the set's own product of bytes (VNNI, dot-product extension); `i8_ops` operations a step.
  std::int32_t (*multiply_add_i8)(std::size_t steps);
  double i8_ops;
};

/// By the kernels' names (`avx2`, `avx512vnni`, …). An unknown one gets the scalar limits.
Limits limits_of(const char* isa);

}  // namespace errata::bench
