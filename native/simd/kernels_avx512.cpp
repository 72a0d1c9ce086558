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

namespace {

/// Sums of one row with four queries, or a register of each query. Named members, not an array: GCC 12 keeps
/// an array of registers in memory and stores it at every step, which took two thirds of the speed.
struct Four {
  __m512 q0, q1, q2, q3;
};

inline void multiply_add(Four& sums, __m512 row, const Four& query) {
  sums.q0 = _mm512_fmadd_ps(row, query.q0, sums.q0);
  sums.q1 = _mm512_fmadd_ps(row, query.q1, sums.q1);
  sums.q2 = _mm512_fmadd_ps(row, query.q2, sums.q2);
  sums.q3 = _mm512_fmadd_ps(row, query.q3, sums.q3);
}

inline __m512 add_pairs(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
}

/// Sums of four queries, interleaved, in each quarter of a register.
inline __m512 fold_lanes(const Four& sums) {
  const __m512d a = _mm512_castps_pd(add_pairs(sums.q0, sums.q1));
  const __m512d b = _mm512_castps_pd(add_pairs(sums.q2, sums.q3));
  return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                       _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
}

inline __m512 fold_quarters(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}

}  // namespace

void tile_f32(const float* rows, size_t stride, const float* queries, size_t query_stride, size_t n,
              float* out) {
  static_assert(kTile == 4, "written for four rows and four queries");
  const __m512 zero = _mm512_setzero_ps();
  Four r0{zero, zero, zero, zero}, r1 = r0, r2 = r0, r3 = r0;
  const auto step = [&](__mmask16 mask, size_t i) {
    const auto part = [mask, i](const float* x) { return _mm512_maskz_loadu_ps(mask, x + i); };
    const Four query{part(queries), part(queries + query_stride), part(queries + 2 * query_stride),
                     part(queries + 3 * query_stride)};
    multiply_add(r0, part(rows), query);
    multiply_add(r1, part(rows + stride), query);
    multiply_add(r2, part(rows + 2 * stride), query);
    multiply_add(r3, part(rows + 3 * stride), query);
  };
  size_t i = 0;
  for (; i + 16 <= n; i += 16) step(__mmask16(0xffff), i);
  if (i < n) step(static_cast<__mmask16>((1u << (n - i)) - 1u), i);
  // Sixteen registers to one of sixteen sums, halving four times: 45 operations where single reductions take
  // 160.
  _mm512_storeu_ps(out, fold_quarters(fold_quarters(fold_lanes(r0), fold_lanes(r1)),
                                      fold_quarters(fold_lanes(r2), fold_lanes(r3))));
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
