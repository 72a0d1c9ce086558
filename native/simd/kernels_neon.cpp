#include "simd/kernels.hpp"

#if defined(ERRATA_ARM64)
#include <arm_neon.h>

namespace errata::simd {
namespace {

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

}  // namespace

const Kernels kNeon = {"neon", 16, dot_f32, sum_squares_f32, divide_f32};

}  // namespace errata::simd
#endif
