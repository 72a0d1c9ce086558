#pragma once

// Shared by the two AVX-512 tables. Declarations only, as in kernels.hpp.
#include "simd/kernels.hpp"

#if defined(ERRATA_X86)
namespace errata::simd::avx512 {

float dot_f32(const float* a, const float* b, size_t n);
double sum_squares_f32(const float* x, size_t n);
void divide_f32(float* x, size_t n, double divisor);
double dot_f64(const float* a, const float* b, size_t n);
void tile_f32(const float* rows, size_t stride, const float* queries, size_t query_stride, size_t n,
              float* out);
float quantize_f32(const float* x, size_t n, uint8_t* codes);

}  // namespace errata::simd::avx512
#endif
