#include "simd/kernels.hpp"

#if defined(ERRATA_X86)
#include <immintrin.h>

namespace errata::simd {
namespace {

float dot_f32(const float* a, const float* b, size_t n) {
  // Four accumulators hide the four cycles of an FMA.
  __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
    s1 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8), s1);
    s2 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 16), _mm256_loadu_ps(b + i + 16), s2);
    s3 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 24), _mm256_loadu_ps(b + i + 24), s3);
  }
  for (; i + 8 <= n; i += 8) s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
  if (i < n) {
    alignas(32) int picks[8];
    for (size_t lane = 0; lane < 8; ++lane) picks[lane] = i + lane < n ? -1 : 0;
    const __m256i mask = _mm256_load_si256(reinterpret_cast<const __m256i*>(picks));
    s1 = _mm256_fmadd_ps(_mm256_maskload_ps(a + i, mask), _mm256_maskload_ps(b + i, mask), s1);
  }
  const __m256 sum = _mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3));
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  half = _mm_add_ss(half, _mm_movehdup_ps(half));
  return _mm_cvtss_f32(half);
}

double sum_squares_f32(const float* x, size_t n) {
  __m256d s0 = _mm256_setzero_pd(), s1 = s0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256d low = _mm256_cvtps_pd(_mm_loadu_ps(x + i));
    const __m256d high = _mm256_cvtps_pd(_mm_loadu_ps(x + i + 4));
    s0 = _mm256_fmadd_pd(low, low, s0);
    s1 = _mm256_fmadd_pd(high, high, s1);
  }
  alignas(32) double sums[4];
  _mm256_store_pd(sums, _mm256_add_pd(s0, s1));
  for (; i < n; ++i) sums[0] += double(x[i]) * double(x[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void divide_f32(float* x, size_t n, double divisor) {
  const __m256d by = _mm256_set1_pd(divisor);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    _mm_storeu_ps(x + i, _mm256_cvtpd_ps(_mm256_div_pd(_mm256_cvtps_pd(_mm_loadu_ps(x + i)), by)));
  }
  for (; i < n; ++i) x[i] = float(double(x[i]) / divisor);
}

}  // namespace

const Kernels kAvx2 = {"avx2", 32, dot_f32, sum_squares_f32, divide_f32};

}  // namespace errata::simd
#endif
