#pragma once

// This header is included by files that are compiled with AVX2 or AVX-512 flags. It must hold declarations
// and plain data only: an inline function compiled there could be the copy that the linker keeps for
// everyone.
#include <stddef.h>
#include <stdint.h>

namespace errata::simd {

/// Rows, and queries, that one call of a tile kernel compares: 16 accumulators fit every register file but
/// AVX2's, where half of them spill into L1.
constexpr size_t kTile = 4;

/// Kernels of one instruction set. Pointers need no alignment (rows are 64-byte aligned for speed); any
/// length works, tails are handled inside and nothing past `n` is read; `n` = 0 gives 0. All are thread-safe.
struct Kernels {
  /// `scalar`, `avx2`, `avx512`, `avx512vnni`, `neon`, `neondot`.
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

  /// Dot product with float64 accumulators in a fixed order: element i goes to chain i % 8, and the chains
  /// are added as ((0+4)+(2+6))+((1+5)+(3+7)). Products of two float32 are exact in float64, so fused or not,
  /// vectorised or not, every variant gives the same bits. |result - exact| <= (n / 8 + 3) * 2^-53 *
  /// sum(|a[i] * b[i]|).
  double (*dot_f64)(const float* a, const float* b, size_t n);

  /// `out[r * kTile + q]` = dot_f32 of row r and query q; rows `stride` floats apart, queries
  /// `query_stride`. One register of chains where dot_f32 has up to four: the bound is dot_f32's with `lanes`
  /// / 4.
  void (*tile_f32)(const float* rows, size_t stride, const float* queries, size_t query_stride, size_t n,
                   float* out);

  /// Codes are bytes `128 + round(x / scale)`, with scale = max(|x|) / 127, ties to even: 1 to 255. Returns
  /// the scale (0 for a zero vector, whose codes are all 128). Elements must be finite. The same bytes in
  /// every variant: one float32 division and one multiplication an element, never fused.
  float (*quantize_f32)(const float* x, size_t n, uint8_t* codes);

  /// sum((codes[i] - 128) * query[i]), exact in int32 up to n = 65,536. `query_sum` must be sum(query[i]).
  int32_t (*dot_i8)(const uint8_t* codes, const int8_t* query, int32_t query_sum, size_t n);

  /// The same between two rows of codes; `a_sum` must be sum(a[i] - 128).
  int32_t (*dot_codes)(const uint8_t* a, int32_t a_sum, const uint8_t* b, size_t n);

  /// dot_i8 of `count` rows that lie `n` bytes apart, of which `n` count.
  void (*rows_i8)(const uint8_t* codes, size_t count, const int8_t* query, int32_t query_sum, size_t n,
                  int32_t* out);

  /// `out[r * kTile + q]` = dot_i8 of row r and query q; rows lie `n` bytes apart, queries too.
  void (*tile_i8)(const uint8_t* codes, const int8_t* queries, const int32_t* query_sums, size_t n,
                  int32_t* out);
};

extern const Kernels kScalar;
#if defined(__x86_64__) || defined(_M_X64)
#define ERRATA_X86 1
extern const Kernels kAvx2;
extern const Kernels kAvx512;      // F and BW
extern const Kernels kAvx512Vnni;  // and VNNI, for the codes
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define ERRATA_ARM64 1
extern const Kernels kNeon;
extern const Kernels kNeonDot;  // and the dot-product extension, for the codes
#endif

}  // namespace errata::simd
