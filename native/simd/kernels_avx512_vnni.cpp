#include "simd/kernels_avx512.hpp"

#if defined(ERRATA_X86)
#include <immintrin.h>

namespace errata::simd {
namespace {

// vpdpbusd multiplies unsigned by signed bytes: the codes' bias of 128 is taken off afterwards, 128 *
// sum(query).

inline __m512i load(const void* bytes) {
  return _mm512_loadu_si512(bytes);
}
inline __mmask64 tail(size_t left) {
  return left >= 64 ? ~__mmask64(0) : (__mmask64(1) << left) - 1;
}

int32_t dot_i8(const uint8_t* codes, const int8_t* query, int32_t query_sum, size_t n) {
  __m512i s0 = _mm512_setzero_si512(), s1 = s0;
  size_t i = 0;
  for (; i + 128 <= n; i += 128) {
    s0 = _mm512_dpbusd_epi32(s0, load(codes + i), load(query + i));
    s1 = _mm512_dpbusd_epi32(s1, load(codes + i + 64), load(query + i + 64));
  }
  for (; i < n; i += 64) {
    const __mmask64 mask = tail(n - i);
    s0 = _mm512_dpbusd_epi32(s0, _mm512_maskz_loadu_epi8(mask, codes + i),
                             _mm512_maskz_loadu_epi8(mask, query + i));
  }
  return _mm512_reduce_add_epi32(_mm512_add_epi32(s0, s1)) - 128 * query_sum;
}

int32_t dot_codes(const uint8_t* a, int32_t a_sum, const uint8_t* b, size_t n) {
  const __m512i bias = _mm512_set1_epi8(char(-128));
  __m512i s0 = _mm512_setzero_si512(), s1 = s0;
  size_t i = 0;
  for (; i + 128 <= n; i += 128) {
    s0 = _mm512_dpbusd_epi32(s0, load(b + i), _mm512_xor_si512(load(a + i), bias));
    s1 = _mm512_dpbusd_epi32(s1, load(b + i + 64), _mm512_xor_si512(load(a + i + 64), bias));
  }
  for (; i < n; i += 64) {
    const __mmask64 mask = tail(n - i);
    const __m512i first = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, a + i), bias);
    s0 = _mm512_dpbusd_epi32(s0, _mm512_maskz_loadu_epi8(mask, b + i), first);
  }
  return _mm512_reduce_add_epi32(_mm512_add_epi32(s0, s1)) - 128 * a_sum;
}

/// Partial sums of one query with four rows or of one row with four queries, or a register of each. Named
/// members, not an array: GCC 12 keeps an array of registers in memory and stores it at every step.
struct Four {
  __m512i s0, s1, s2, s3;
};

inline Four zeros() {
  const __m512i zero = _mm512_setzero_si512();
  return {zero, zero, zero, zero};
}

/// Four registers of sixteen partial sums to four sums.
inline __m128i reduce(const Four& sums) {
  const __m512i a =
      _mm512_add_epi32(_mm512_unpacklo_epi32(sums.s0, sums.s1), _mm512_unpackhi_epi32(sums.s0, sums.s1));
  const __m512i b =
      _mm512_add_epi32(_mm512_unpacklo_epi32(sums.s2, sums.s3), _mm512_unpackhi_epi32(sums.s2, sums.s3));
  const __m512i c = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(c), _mm512_extracti64x4_epi64(c, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

inline void store(int32_t* out, const Four& sums, __m128i bias) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_sub_epi32(reduce(sums), bias));
}

void rows_i8(const uint8_t* codes, size_t count, const int8_t* query, int32_t query_sum, size_t n,
             int32_t* out) {
  const __m128i bias = _mm_set1_epi32(128 * query_sum);
  size_t r = 0;
  // Four rows at once: one accumulator a row, each query register loaded once, and the next rows on their
  // way.
  for (; r + 4 <= count; r += 4) {
    const uint8_t* row = codes + r * n;
    Four sums = zeros();
    const auto step = [&](__mmask64 mask, size_t i) {
      const auto part = [mask, i](const void* bytes) {
        return _mm512_maskz_loadu_epi8(mask, static_cast<const uint8_t*>(bytes) + i);
      };
      // 4 KiB ahead: at 100k x 384 this hid the latency that the hardware's own streams left (16 rows of
      // 384).
      const auto ahead = [i](const uint8_t* from) {
        _mm_prefetch(reinterpret_cast<const char*>(from + i + 4096), _MM_HINT_T0);
      };
      ahead(row), ahead(row + n), ahead(row + 2 * n), ahead(row + 3 * n);
      const __m512i wanted = part(query);
      sums.s0 = _mm512_dpbusd_epi32(sums.s0, part(row), wanted);
      sums.s1 = _mm512_dpbusd_epi32(sums.s1, part(row + n), wanted);
      sums.s2 = _mm512_dpbusd_epi32(sums.s2, part(row + 2 * n), wanted);
      sums.s3 = _mm512_dpbusd_epi32(sums.s3, part(row + 3 * n), wanted);
    };
    size_t i = 0;
    for (; i + 64 <= n; i += 64) step(~__mmask64(0), i);
    if (i < n) step(tail(n - i), i);
    store(out + r, sums, bias);
  }
  for (; r < count; ++r) out[r] = dot_i8(codes + r * n, query, query_sum, n);
}

inline void multiply_add(Four& sums, __m512i row, const Four& query) {
  sums.s0 = _mm512_dpbusd_epi32(sums.s0, row, query.s0);
  sums.s1 = _mm512_dpbusd_epi32(sums.s1, row, query.s1);
  sums.s2 = _mm512_dpbusd_epi32(sums.s2, row, query.s2);
  sums.s3 = _mm512_dpbusd_epi32(sums.s3, row, query.s3);
}

void tile_i8(const uint8_t* codes, const int8_t* queries, const int32_t* query_sums, size_t n, int32_t* out) {
  static_assert(kTile == 4, "written for four rows and four queries");
  Four r0 = zeros(), r1 = r0, r2 = r0, r3 = r0;
  const auto step = [&](__mmask64 mask, size_t i) {
    const auto part = [mask, i](const void* bytes) {
      return _mm512_maskz_loadu_epi8(mask, static_cast<const uint8_t*>(bytes) + i);
    };
    const Four query{part(queries), part(queries + n), part(queries + 2 * n), part(queries + 3 * n)};
    multiply_add(r0, part(codes), query);
    multiply_add(r1, part(codes + n), query);
    multiply_add(r2, part(codes + 2 * n), query);
    multiply_add(r3, part(codes + 3 * n), query);
  };
  size_t i = 0;
  for (; i + 64 <= n; i += 64) step(~__mmask64(0), i);
  if (i < n) step(tail(n - i), i);
  const __m128i given = _mm_loadu_si128(reinterpret_cast<const __m128i*>(query_sums));
  const __m128i bias = _mm_slli_epi32(given, 7);
  store(out, r0, bias), store(out + 4, r1, bias), store(out + 8, r2, bias), store(out + 12, r3, bias);
}

}  // namespace

const Kernels kAvx512Vnni = {"avx512vnni",
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
