#pragma once

// Kernels over codes for both NEON tables; only their files include this, and only on arm64.
#include <arm_neon.h>

#include "simd/kernels.hpp"

namespace errata::simd {

/// `Step::multiply_add` adds the products of 16 signed bytes to four sums. Each file must bring a `Step` of
/// its own in an anonymous namespace: what is instantiated with it stays in that file, and so do the
/// instructions of its flags.
template <typename Step>
struct NeonCodes {
  static int8x16_t signed_code(const uint8_t* codes) {
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(codes), vdupq_n_u8(128)));
  }

  static int32_t dot_i8(const uint8_t* codes, const int8_t* query, int32_t, size_t n) {
    int32x4_t sums = vdupq_n_s32(0);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) sums = Step::multiply_add(sums, signed_code(codes + i), vld1q_s8(query + i));
    int32_t sum = vaddvq_s32(sums);
    for (; i < n; ++i) sum += (int32_t(codes[i]) - 128) * int32_t(query[i]);
    return sum;
  }

  static int32_t dot_codes(const uint8_t* a, int32_t, const uint8_t* b, size_t n) {
    int32x4_t sums = vdupq_n_s32(0);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) sums = Step::multiply_add(sums, signed_code(a + i), signed_code(b + i));
    int32_t sum = vaddvq_s32(sums);
    for (; i < n; ++i) sum += (int32_t(a[i]) - 128) * (int32_t(b[i]) - 128);
    return sum;
  }

  static void rows_i8(const uint8_t* codes, size_t count, const int8_t* query, int32_t query_sum, size_t n,
                      int32_t* out) {
    for (size_t r = 0; r < count; ++r) out[r] = dot_i8(codes + r * n, query, query_sum, n);
  }

  static void tile_i8(const uint8_t* codes, const int8_t* queries, const int32_t* query_sums, size_t n,
                      int32_t* out) {
    for (size_t r = 0; r < kTile; ++r) {
      for (size_t q = 0; q < kTile; ++q) {
        out[r * kTile + q] = dot_i8(codes + r * n, queries + q * n, query_sums[q], n);
      }
    }
  }
};

}  // namespace errata::simd
