#pragma once

// This header is included by files that are compiled with AVX2 or AVX-512 flags. It must hold declarations
// and plain data only: an inline function compiled there could be the copy that the linker keeps for
// everyone.
#include <stddef.h>

namespace errata::simd {

/// Kernels of one instruction set. Pointers need no alignment (rows are 64-byte aligned for speed); any
/// length works, tails are handled inside and nothing past `n` is read; `n` = 0 gives 0. All are thread-safe.
struct Kernels {
  /// `scalar`, `avx2`, `avx512`, `neon`.
  const char* name;

  /// Number of independent partial sums of `dot_f32`; enters its error bound.
  size_t lanes;

  /// Dot product with float32 accumulators.
  /// |result - exact| <= (n / lanes + 8) * 2^-24 * sum(|a[i] * b[i]|), barring underflow (Higham, Accuracy
  /// and Stability of Numerical Algorithms, 3.1, with `lanes` chains and a tree of at most 6 levels).
  float (*dot_f32)(const float* a, const float* b, size_t n);

  /// Sum of squares with float64 accumulators: relative error <= n * 2^-53. Products of two float32 are exact
  /// in float64 and cannot overflow it, so the result is finite exactly when every element is: one pass
  /// validates both.
  double (*sum_squares_f32)(const float* x, size_t n);

  /// Divides in place, in float64, rounding each element once to float32: |error| <= 2^-24 of the element.
  void (*divide_f32)(float* x, size_t n, double divisor);
};

extern const Kernels kScalar;
#if defined(__x86_64__) || defined(_M_X64)
#define ERRATA_X86 1
extern const Kernels kAvx2;
extern const Kernels kAvx512;
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define ERRATA_ARM64 1
extern const Kernels kNeon;
#endif

}  // namespace errata::simd
