#include "simd/kernels_neon.hpp"

#if defined(ERRATA_ARM64)
#include <arm_neon.h>

namespace errata::simd {
namespace {

inline int8x16_t signed_code(const uint8_t* codes) {
  return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(codes), vdupq_n_u8(128)));
}
inline int32x4_t multiply_add(int32x4_t sum, int8x16_t a, int8x16_t b) {
  return vdotq_s32(sum, a, b);
}

int32_t dot_i8(const uint8_t* codes, const int8_t* query, int32_t, size_t n) {
  int32x4_t sums = vdupq_n_s32(0);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) sums = multiply_add(sums, signed_code(codes + i), vld1q_s8(query + i));
  int32_t sum = vaddvq_s32(sums);
  for (; i < n; ++i) sum += (int32_t(codes[i]) - 128) * int32_t(query[i]);
  return sum;
}

int32_t dot_codes(const uint8_t* a, int32_t, const uint8_t* b, size_t n) {
  int32x4_t sums = vdupq_n_s32(0);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) sums = multiply_add(sums, signed_code(a + i), signed_code(b + i));
  int32_t sum = vaddvq_s32(sums);
  for (; i < n; ++i) sum += (int32_t(a[i]) - 128) * (int32_t(b[i]) - 128);
  return sum;
}

void rows_i8(const uint8_t* codes, size_t count, const int8_t* query, int32_t query_sum, size_t n,
             int32_t* out) {
  for (size_t r = 0; r < count; ++r) out[r] = dot_i8(codes + r * n, query, query_sum, n);
}

void tile_i8(const uint8_t* codes, const int8_t* queries, const int32_t* query_sums, size_t n, int32_t* out) {
  for (size_t r = 0; r < kTile; ++r) {
    for (size_t q = 0; q < kTile; ++q) {
      out[r * kTile + q] = dot_i8(codes + r * n, queries + q * n, query_sums[q], n);
    }
  }
}

}  // namespace

const Kernels kNeonDot = {"neondot",        16,
                          neon::dot_f32,    neon::sum_squares_f32,
                          neon::divide_f32, neon::dot_f64,
                          neon::tile_f32,   neon::quantize_f32,
                          dot_i8,           dot_codes,
                          rows_i8,          tile_i8};

}  // namespace errata::simd
#endif
