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

double dot_f64(const float* a, const float* b, size_t n) {
  __m256d low = _mm256_setzero_pd(), high = low;  // chains 0 to 3, and 4 to 7
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    low = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i)), _mm256_cvtps_pd(_mm_loadu_ps(b + i)), low);
    high = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i + 4)), _mm256_cvtps_pd(_mm_loadu_ps(b + i + 4)),
                           high);
  }
  alignas(32) double sums[8];
  _mm256_store_pd(sums, low);
  _mm256_store_pd(sums + 4, high);
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += double(a[i]) * double(b[i]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// Sums of one row with four queries, or a register of each query. Named members, not an array: GCC 12 keeps
/// an array of registers in memory and stores it at every step.
struct Four {
  __m256 q0, q1, q2, q3;
};

inline void multiply_add(Four& sums, __m256 row, const Four& query) {
  sums.q0 = _mm256_fmadd_ps(row, query.q0, sums.q0);
  sums.q1 = _mm256_fmadd_ps(row, query.q1, sums.q1);
  sums.q2 = _mm256_fmadd_ps(row, query.q2, sums.q2);
  sums.q3 = _mm256_fmadd_ps(row, query.q3, sums.q3);
}

/// Four registers of partial sums to four sums.
inline __m128 reduce(const Four& sums) {
  const __m256 all = _mm256_hadd_ps(_mm256_hadd_ps(sums.q0, sums.q1), _mm256_hadd_ps(sums.q2, sums.q3));
  return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
}

/// Two rows at a time: eight sums, four queries and a row fit the sixteen registers, sixteen sums do not.
void tile_f32(const float* rows, size_t stride, const float* queries, size_t query_stride, size_t n,
              float* out) {
  static_assert(kTile == 4, "written for four rows and four queries");
  const __m256 zero = _mm256_setzero_ps();
  for (size_t r = 0; r < kTile; r += 2) {
    const float* row = rows + r * stride;
    Four r0{zero, zero, zero, zero}, r1 = r0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
      const auto part = [i](const float* x) { return _mm256_loadu_ps(x + i); };
      const Four query{part(queries), part(queries + query_stride), part(queries + 2 * query_stride),
                       part(queries + 3 * query_stride)};
      multiply_add(r0, part(row), query);
      multiply_add(r1, part(row + stride), query);
    }
    _mm_storeu_ps(out + r * kTile, reduce(r0));
    _mm_storeu_ps(out + (r + 1) * kTile, reduce(r1));
    for (; i < n; ++i) {
      for (size_t q = 0; q < kTile; ++q) {
        out[r * kTile + q] += row[i] * queries[q * query_stride + i];
        out[(r + 1) * kTile + q] += row[stride + i] * queries[q * query_stride + i];
      }
    }
  }
}

float quantize_f32(const float* x, size_t n, uint8_t* codes) {
  const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  __m256 most = _mm256_setzero_ps();
  size_t i = 0;
  for (; i + 8 <= n; i += 8) most = _mm256_max_ps(most, _mm256_and_ps(_mm256_loadu_ps(x + i), magnitude));
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, most);
  float largest = 0;
  for (float lane : lanes) largest = lane > largest ? lane : largest;
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
  const __m256 by = _mm256_set1_ps(inverse);
  for (i = 0; i + 8 <= n; i += 8) {
    const __m256i whole = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), by));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    const __m128i bytes = _mm_xor_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(char(-128)));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(codes + i), bytes);
  }
  for (; i < n; ++i) {
    codes[i] = static_cast<uint8_t>(128 + _mm_cvtss_si32(_mm_set_ss(x[i] * inverse)));
  }
  return scale;
}

inline __m256i widen_code(const uint8_t* codes) {
  const __m256i words = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
  return _mm256_sub_epi16(words, _mm256_set1_epi16(128));
}

inline int32_t sum_lanes(__m256i sums) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

// Sixteen-bit products: maddubs would saturate at 255 * 127 * 2.
int32_t dot_i8(const uint8_t* codes, const int8_t* query, int32_t, size_t n) {
  __m256i s0 = _mm256_setzero_si256(), s1 = s0;
  size_t i = 0;
  const auto words = [query](size_t at) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(query + at)));
  };
  for (; i + 32 <= n; i += 32) {
    s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(widen_code(codes + i), words(i)));
    s1 = _mm256_add_epi32(s1, _mm256_madd_epi16(widen_code(codes + i + 16), words(i + 16)));
  }
  for (; i + 16 <= n; i += 16) s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(widen_code(codes + i), words(i)));
  int32_t sum = sum_lanes(_mm256_add_epi32(s0, s1));
  for (; i < n; ++i) sum += (int32_t(codes[i]) - 128) * int32_t(query[i]);
  return sum;
}

int32_t dot_codes(const uint8_t* a, int32_t, const uint8_t* b, size_t n) {
  __m256i s0 = _mm256_setzero_si256(), s1 = s0;
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(widen_code(a + i), widen_code(b + i)));
    s1 = _mm256_add_epi32(s1, _mm256_madd_epi16(widen_code(a + i + 16), widen_code(b + i + 16)));
  }
  int32_t sum = sum_lanes(_mm256_add_epi32(s0, s1));
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

const Kernels kAvx2 = {"avx2",   32,           dot_f32, sum_squares_f32, divide_f32, dot_f64,
                       tile_f32, quantize_f32, dot_i8,  dot_codes,       rows_i8,    tile_i8};

}  // namespace errata::simd
#endif
