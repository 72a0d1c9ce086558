#include "simd/kernels_neon.hpp"

#if defined(ERRATA_ARM64)
#include "simd/kernels_neon_codes.hpp"

namespace errata::simd {
namespace neon {

float dot_f32(const float* a, const float* b, size_t n) {
  float32x4_t s0 = vdupq_n_f32(0), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    s0 = vfmaq_f32(s0, vld1q_f32(a + i), vld1q_f32(b + i));
    s1 = vfmaq_f32(s1, vld1q_f32(a + i + 4), vld1q_f32(b + i + 4));
    s2 = vfmaq_f32(s2, vld1q_f32(a + i + 8), vld1q_f32(b + i + 8));
    s3 = vfmaq_f32(s3, vld1q_f32(a + i + 12), vld1q_f32(b + i + 12));
  }
  for (; i + 4 <= n; i += 4) s0 = vfmaq_f32(s0, vld1q_f32(a + i), vld1q_f32(b + i));
  float sum = vaddvq_f32(vaddq_f32(vaddq_f32(s0, s1), vaddq_f32(s2, s3)));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

double sum_squares_f32(const float* x, size_t n) {
  float64x2_t s0 = vdupq_n_f64(0), s1 = s0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const float32x4_t values = vld1q_f32(x + i);
    const float64x2_t low = vcvt_f64_f32(vget_low_f32(values));
    const float64x2_t high = vcvt_high_f64_f32(values);
    s0 = vfmaq_f64(s0, low, low);
    s1 = vfmaq_f64(s1, high, high);
  }
  double sum = vaddvq_f64(vaddq_f64(s0, s1));
  for (; i < n; ++i) sum += double(x[i]) * double(x[i]);
  return sum;
}

void divide_f32(float* x, size_t n, double divisor) {
  for (size_t i = 0; i < n; ++i) x[i] = float(double(x[i]) / divisor);
}

double dot_f64(const float* a, const float* b, size_t n) {
  float64x2_t chains[4] = {vdupq_n_f64(0), vdupq_n_f64(0), vdupq_n_f64(0), vdupq_n_f64(0)};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t half = 0; half < 2; ++half) {
      const float32x4_t x = vld1q_f32(a + i + half * 4), y = vld1q_f32(b + i + half * 4);
      chains[half * 2] =
          vfmaq_f64(chains[half * 2], vcvt_f64_f32(vget_low_f32(x)), vcvt_f64_f32(vget_low_f32(y)));
      chains[half * 2 + 1] = vfmaq_f64(chains[half * 2 + 1], vcvt_high_f64_f32(x), vcvt_high_f64_f32(y));
    }
  }
  double sums[8];
  for (size_t j = 0; j < 4; ++j) vst1q_f64(sums + 2 * j, chains[j]);
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += double(a[i]) * double(b[i]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

void tile_f32(const float* rows, size_t stride, const float* queries, size_t query_stride, size_t n,
              float* out) {
  float32x4_t sums[kTile][kTile];
  for (auto& row : sums) {
    for (float32x4_t& sum : row) sum = vdupq_n_f32(0);
  }
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    float32x4_t query[kTile];
    for (size_t q = 0; q < kTile; ++q) query[q] = vld1q_f32(queries + q * query_stride + i);
    for (size_t r = 0; r < kTile; ++r) {
      const float32x4_t row = vld1q_f32(rows + r * stride + i);
      for (size_t q = 0; q < kTile; ++q) sums[r][q] = vfmaq_f32(sums[r][q], row, query[q]);
    }
  }
  for (size_t r = 0; r < kTile; ++r) {
    for (size_t q = 0; q < kTile; ++q) {
      float sum = vaddvq_f32(sums[r][q]);
      for (size_t j = i; j < n; ++j) sum += rows[r * stride + j] * queries[q * query_stride + j];
      out[r * kTile + q] = sum;
    }
  }
}

float quantize_f32(const float* x, size_t n, uint8_t* codes) {
  float32x4_t most = vdupq_n_f32(0);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) most = vmaxq_f32(most, vabsq_f32(vld1q_f32(x + i)));
  float largest = vmaxvq_f32(most);
  for (; i < n; ++i) {
    const float value = x[i] < 0 ? -x[i] : x[i];
    largest = value > largest ? value : largest;
  }
  const float scale = largest / 127.0f;
  const float inverse = scale > 0 ? 127.0f / largest : 0.0f;
  if (!(inverse <= 3.4e38f) || inverse == 0.0f) {
    for (i = 0; i < n; ++i) codes[i] = 128;
    return 0;
  }
  // vcvtn rounds to nearest, ties to even, as the other variants do.
  for (i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(128 + vcvtns_s32_f32(x[i] * inverse));
  return scale;
}

}  // namespace neon

namespace {

struct Widening {
  static int32x4_t multiply_add(int32x4_t sum, int8x16_t a, int8x16_t b) {
    sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    return vpadalq_s16(sum, vmull_high_s8(a, b));
  }
};
using Codes = NeonCodes<Widening>;

}  // namespace

const Kernels kNeon = {"neon",           16,
                       neon::dot_f32,    neon::sum_squares_f32,
                       neon::divide_f32, neon::dot_f64,
                       neon::tile_f32,   neon::quantize_f32,
                       Codes::dot_i8,    Codes::dot_codes,
                       Codes::rows_i8,   Codes::tile_i8};

}  // namespace errata::simd
#endif
