// Peak rates. Each function carries its own target attribute, so that this file needs no flags of its own and
// a machine without the instructions never meets them.
#include "limits.hpp"

#include <cstring>

#include "simd/kernels.hpp"

#if defined(ERRATA_X86)
#include <immintrin.h>
#elif defined(ERRATA_ARM64)
#include <arm_neon.h>
#endif

namespace errata::bench {
namespace {

std::uint64_t read_scalar(const std::uint8_t* data, std::size_t bytes) {
  constexpr std::size_t kWords = 16;
  std::uint64_t words[kWords] = {};
  for (std::size_t i = 0; i < bytes; i += sizeof words) {
    std::uint64_t now[kWords];
    std::memcpy(now, data + i, sizeof now);
    for (std::size_t j = 0; j < kWords; ++j) words[j] ^= now[j];
  }
  std::uint64_t all = 0;
  for (const std::uint64_t word : words) all ^= word;
  return all;
}

// Ten chains cover a latency of four cycles on two ports with room to spare. They are ten variables, since an
// array whose address an `asm` takes lives in memory; the empty `asm` keeps the compiler from folding the
// loop.
#define ERRATA_TEN(each) each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9)

#if defined(ERRATA_X86)

__attribute__((target("avx2"))) std::uint64_t read_avx2(const std::uint8_t* data, std::size_t bytes) {
  __m256i sums[8];
  for (auto& sum : sums) sum = _mm256_setzero_si256();
  for (std::size_t i = 0; i < bytes; i += 256) {
    for (int j = 0; j < 8; ++j) {
      sums[j] =
          _mm256_xor_si256(sums[j], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + i + 32 * j)));
    }
  }
  for (int j = 1; j < 8; ++j) sums[0] = _mm256_xor_si256(sums[0], sums[j]);
  std::uint64_t words[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), sums[0]);
  return words[0] ^ words[1] ^ words[2] ^ words[3];
}

__attribute__((target("avx2,fma"))) float multiply_add_avx2(std::size_t steps) {
  const __m256 factor = _mm256_set1_ps(0.999999f);
#define ERRATA_START(i) __m256 x##i = _mm256_set1_ps(1.0f);
#define ERRATA_STEP(i)                          \
  x##i = _mm256_fmadd_ps(x##i, factor, factor); \
  __asm__ volatile("" : "+x"(x##i));
#define ERRATA_ADD(i) sum = _mm256_add_ps(sum, x##i);
  ERRATA_TEN(ERRATA_START)
  for (std::size_t i = 0; i < steps; ++i) {
    ERRATA_TEN(ERRATA_STEP)
  }
  __m256 sum = _mm256_set1_ps(1.0f);
  ERRATA_TEN(ERRATA_ADD)
#undef ERRATA_START
#undef ERRATA_STEP
#undef ERRATA_ADD
  return _mm256_cvtss_f32(sum);
}

__attribute__((target("avx512f"))) std::uint64_t read_avx512(const std::uint8_t* data, std::size_t bytes) {
  __m512i sums[4];
  for (auto& sum : sums) sum = _mm512_setzero_si512();
  for (std::size_t i = 0; i < bytes; i += 256) {
    for (int j = 0; j < 4; ++j) {
      sums[j] = _mm512_xor_si512(sums[j], _mm512_loadu_si512(data + i + 64 * j));
    }
  }
  sums[0] = _mm512_xor_si512(_mm512_xor_si512(sums[0], sums[1]), _mm512_xor_si512(sums[2], sums[3]));
  std::uint64_t words[8];
  _mm512_storeu_si512(words, sums[0]);
  std::uint64_t all = 0;
  for (const std::uint64_t word : words) all ^= word;
  return all;
}

__attribute__((target("avx512f"))) float multiply_add_avx512(std::size_t steps) {
  const __m512 factor = _mm512_set1_ps(0.999999f);
#define ERRATA_START(i) __m512 x##i = _mm512_set1_ps(1.0f);
#define ERRATA_STEP(i)                          \
  x##i = _mm512_fmadd_ps(x##i, factor, factor); \
  __asm__ volatile("" : "+v"(x##i));
#define ERRATA_ADD(i) sum = _mm512_add_ps(sum, x##i);
  ERRATA_TEN(ERRATA_START)
  for (std::size_t i = 0; i < steps; ++i) {
    ERRATA_TEN(ERRATA_STEP)
  }
  __m512 sum = _mm512_set1_ps(1.0f);
  ERRATA_TEN(ERRATA_ADD)
#undef ERRATA_START
#undef ERRATA_STEP
#undef ERRATA_ADD
  return _mm512_cvtss_f32(sum);
}

__attribute__((target("avx512f,avx512vnni"))) std::int32_t multiply_add_vnni(std::size_t steps) {
  const __m512i bytes = _mm512_set1_epi8(3);
#define ERRATA_START(i) __m512i x##i = _mm512_setzero_si512();
#define ERRATA_STEP(i)                            \
  x##i = _mm512_dpbusd_epi32(x##i, bytes, bytes); \
  __asm__ volatile("" : "+v"(x##i));
#define ERRATA_ADD(i) sum = _mm512_add_epi32(sum, x##i);
  ERRATA_TEN(ERRATA_START)
  for (std::size_t i = 0; i < steps; ++i) {
    ERRATA_TEN(ERRATA_STEP)
  }
  __m512i sum = _mm512_setzero_si512();
  ERRATA_TEN(ERRATA_ADD)
#undef ERRATA_START
#undef ERRATA_STEP
#undef ERRATA_ADD
  return _mm_cvtsi128_si32(_mm512_castsi512_si128(sum));
}

#elif defined(ERRATA_ARM64)

std::uint64_t read_neon(const std::uint8_t* data, std::size_t bytes) {
  uint8x16_t sums[8];
  for (auto& sum : sums) sum = vdupq_n_u8(0);
  for (std::size_t i = 0; i < bytes; i += 128) {
    for (int j = 0; j < 8; ++j) sums[j] = veorq_u8(sums[j], vld1q_u8(data + i + 16 * j));
  }
  for (int j = 1; j < 8; ++j) sums[0] = veorq_u8(sums[0], sums[j]);
  return vgetq_lane_u64(vreinterpretq_u64_u8(sums[0]), 0) ^ vgetq_lane_u64(vreinterpretq_u64_u8(sums[0]), 1);
}

float multiply_add_neon(std::size_t steps) {
  const float32x4_t factor = vdupq_n_f32(0.999999f);
#define ERRATA_START(i) float32x4_t x##i = vdupq_n_f32(1.0f);
#define ERRATA_STEP(i)                    \
  x##i = vfmaq_f32(factor, x##i, factor); \
  __asm__ volatile("" : "+w"(x##i));
#define ERRATA_ADD(i) sum = vaddq_f32(sum, x##i);
  ERRATA_TEN(ERRATA_START)
  for (std::size_t i = 0; i < steps; ++i) {
    ERRATA_TEN(ERRATA_STEP)
  }
  float32x4_t sum = vdupq_n_f32(1.0f);
  ERRATA_TEN(ERRATA_ADD)
#undef ERRATA_START
#undef ERRATA_STEP
#undef ERRATA_ADD
  return vgetq_lane_f32(sum, 0);
}

#endif

}  // namespace

Limits limits_of(const char* isa) {
  const auto is = [isa](const char* name) { return std::strcmp(isa, name) == 0; };
#if defined(ERRATA_X86)
  if (is("avx2")) return {read_avx2, multiply_add_avx2, 10 * 8 * 2, nullptr, 0};
  if (is("avx512")) return {read_avx512, multiply_add_avx512, 10 * 16 * 2, nullptr, 0};
  if (is("avx512vnni"))
    return {read_avx512, multiply_add_avx512, 10 * 16 * 2, multiply_add_vnni, 10 * 64 * 2};
#elif defined(ERRATA_ARM64)
  if (is("neon") || is("neondot")) return {read_neon, multiply_add_neon, 10 * 4 * 2, nullptr, 0};
#endif
  (void)is;
  return {read_scalar, nullptr, 0, nullptr, 0};
}

}  // namespace errata::bench
