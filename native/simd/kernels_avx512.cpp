#include "simd/kernels_avx512.hpp"

#if defined(ERRATA_X86)
#include <immintrin.h>

namespace errata::simd {
namespace avx512 {

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

double dot_f64(const float* a, const float* b, size_t n) {
  __m512d chains = _mm512_setzero_pd();
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    chains = _mm512_fmadd_pd(_mm512_cvtps_pd(_mm256_loadu_ps(a + i)), _mm512_cvtps_pd(_mm256_loadu_ps(b + i)),
                             chains);
  }
  alignas(64) double sums[8];
  _mm512_store_pd(sums, chains);
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += double(a[i]) * double(b[i]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

void tile_f32(const float* rows, size_t stride, const float* queries, size_t query_stride, size_t n,
              float* out) {
  __m512 sums[kTile * kTile];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (size_t i = 0; i < n; i += 16) {
    const __mmask16 mask = n - i >= 16 ? __mmask16(0xffff) : static_cast<__mmask16>((1u << (n - i)) - 1u);
    __m512 query[kTile];
    for (size_t q = 0; q < kTile; ++q) query[q] = _mm512_maskz_loadu_ps(mask, queries + q * query_stride + i);
    for (size_t r = 0; r < kTile; ++r) {
      const __m512 row = _mm512_maskz_loadu_ps(mask, rows + r * stride + i);
      for (size_t q = 0; q < kTile; ++q) {
        sums[r * kTile + q] = _mm512_fmadd_ps(row, query[q], sums[r * kTile + q]);
      }
    }
  }
  // Sixteen registers to one of sixteen sums, halving four times: 45 operations where single reductions take
  // 160.
  __m512 half[8], quarter[4];
  for (size_t j = 0; j < 8; ++j) {
    half[j] = _mm512_add_ps(_mm512_unpacklo_ps(sums[2 * j], sums[2 * j + 1]),
                            _mm512_unpackhi_ps(sums[2 * j], sums[2 * j + 1]));
  }
  for (size_t j = 0; j < 4; ++j) {
    const __m512d a = _mm512_castps_pd(half[2 * j]), b = _mm512_castps_pd(half[2 * j + 1]);
    quarter[j] =
        _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  const auto fold = [](__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  };
  _mm512_storeu_ps(out, fold(fold(quarter[0], quarter[1]), fold(quarter[2], quarter[3])));
}

float quantize_f32(const float* x, size_t n, uint8_t* codes) {
  __m512 most = _mm512_setzero_ps();
  for (size_t i = 0; i < n; i += 16) {
    const __mmask16 mask = n - i >= 16 ? __mmask16(0xffff) : static_cast<__mmask16>((1u << (n - i)) - 1u);
    most = _mm512_max_ps(most, _mm512_abs_ps(_mm512_maskz_loadu_ps(mask, x + i)));
  }
  const float largest = _mm512_reduce_max_ps(most);
  const float scale = largest / 127.0f;
  const float inverse = scale > 0 ? 127.0f / largest : 0.0f;
  if (!(inverse <= 3.4e38f) || inverse == 0.0f) {
    for (size_t i = 0; i < n; ++i) codes[i] = 128;
    return 0;
  }
  const __m512 by = _mm512_set1_ps(inverse);
  for (size_t i = 0; i < n; i += 16) {
    const __mmask16 mask = n - i >= 16 ? __mmask16(0xffff) : static_cast<__mmask16>((1u << (n - i)) - 1u);
    const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_maskz_loadu_ps(mask, x + i), by));
    _mm512_mask_cvtepi32_storeu_epi8(codes + i, mask, _mm512_add_epi32(whole, _mm512_set1_epi32(128)));
  }
  return scale;
}

}  // namespace avx512

namespace {

inline __m512i widen_code(__m256i codes) {
  return _mm512_sub_epi16(_mm512_cvtepu8_epi16(codes), _mm512_set1_epi16(128));
}
inline __m256i load(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(bytes));
}

int32_t dot_i8(const uint8_t* codes, const int8_t* query, int32_t, size_t n) {
  __m512i s0 = _mm512_setzero_si512(), s1 = s0;
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    s0 = _mm512_add_epi32(
        s0, _mm512_madd_epi16(widen_code(load(codes + i)), _mm512_cvtepi8_epi16(load(query + i))));
    s1 = _mm512_add_epi32(
        s1, _mm512_madd_epi16(widen_code(load(codes + i + 32)), _mm512_cvtepi8_epi16(load(query + i + 32))));
  }
  int32_t sum = _mm512_reduce_add_epi32(_mm512_add_epi32(s0, s1));
  for (; i < n; ++i) sum += (int32_t(codes[i]) - 128) * int32_t(query[i]);
  return sum;
}

int32_t dot_codes(const uint8_t* a, int32_t, const uint8_t* b, size_t n) {
  __m512i s0 = _mm512_setzero_si512(), s1 = s0;
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    s0 = _mm512_add_epi32(s0, _mm512_madd_epi16(widen_code(load(a + i)), widen_code(load(b + i))));
    s1 = _mm512_add_epi32(s1, _mm512_madd_epi16(widen_code(load(a + i + 32)), widen_code(load(b + i + 32))));
  }
  int32_t sum = _mm512_reduce_add_epi32(_mm512_add_epi32(s0, s1));
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

const Kernels kAvx512 = {"avx512",
                         64,
                         avx512::dot_f32,
                         avx512::sum_squares_f32,
                         avx512::divide_f32,
                         avx512::dot_f64,
                         avx512::tile_f32,
                         avx512::quantize_f32,
                         dot_i8,
                         dot_codes,
                         rows_i8,
                         tile_i8};

}  // namespace errata::simd
#endif
