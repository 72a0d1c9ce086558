#include "simd/kernels.hpp"

#if defined(ERRATA_X86)
#include <immintrin.h>

namespace errata::simd {
namespace {

float dot_f32(const float* a, const float* b, size_t n) {
  __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    s0 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), s0);
    s1 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 16), _mm512_loadu_ps(b + i + 16), s1);
    s2 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 32), _mm512_loadu_ps(b + i + 32), s2);
    s3 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 48), _mm512_loadu_ps(b + i + 48), s3);
  }
  for (; i + 16 <= n; i += 16) s0 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), s0);
  if (i < n) {
    const __mmask16 mask = static_cast<__mmask16>((1u << (n - i)) - 1u);
    s1 = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, a + i), _mm512_maskz_loadu_ps(mask, b + i), s1);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
}

double sum_squares_f32(const float* x, size_t n) {
  __m512d s0 = _mm512_setzero_pd(), s1 = s0;
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512d low = _mm512_cvtps_pd(_mm256_loadu_ps(x + i));
    const __m512d high = _mm512_cvtps_pd(_mm256_loadu_ps(x + i + 8));
    s0 = _mm512_fmadd_pd(low, low, s0);
    s1 = _mm512_fmadd_pd(high, high, s1);
  }
  double sum = _mm512_reduce_add_pd(_mm512_add_pd(s0, s1));
  for (; i < n; ++i) sum += double(x[i]) * double(x[i]);
  return sum;
}

void divide_f32(float* x, size_t n, double divisor) {
  const __m512d by = _mm512_set1_pd(divisor);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(x + i, _mm512_cvtpd_ps(_mm512_div_pd(_mm512_cvtps_pd(_mm256_loadu_ps(x + i)), by)));
  }
  for (; i < n; ++i) x[i] = float(double(x[i]) / divisor);
}

}  // namespace

const Kernels kAvx512 = {"avx512", 64, dot_f32, sum_squares_f32, divide_f32};

}  // namespace errata::simd
#endif
