#include <math.h>

#include "simd/kernels.hpp"

namespace errata::simd {
namespace {

constexpr size_t kLanes = 16;

float dot_f32(const float* a, const float* b, size_t n) {
  // Sixteen chains: short error bound, and the compiler may use the base instruction set's vectors.
  float sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += a[i] * b[i];
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

double sum_squares_f32(const float* x, size_t n) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += double(x[i + lane]) * double(x[i + lane]);
  }
  for (; i < n; ++i) sums[0] += double(x[i]) * double(x[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void divide_f32(float* x, size_t n, double divisor) {
  for (size_t i = 0; i < n; ++i) x[i] = float(double(x[i]) / divisor);
}

double dot_f64(const float* a, const float* b, size_t n) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += double(a[i + lane]) * double(b[i + lane]);
  }
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += double(a[i]) * double(b[i]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

void tile_f32(const float* rows, size_t stride, const float* queries, size_t query_stride, size_t n,
              float* out) {
  for (size_t r = 0; r < kTile; ++r) {
    for (size_t q = 0; q < kTile; ++q) {
      out[r * kTile + q] = dot_f32(rows + r * stride, queries + q * query_stride, n);
    }
  }
}

float quantize_f32(const float* x, size_t n, uint8_t* codes) {
  float largest = 0;
  for (size_t i = 0; i < n; ++i) largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
  const float scale = largest / 127.0f;
  const float inverse = scale > 0 ? 127.0f / largest : 0.0f;
  // Subnormal vectors, whose inverse overflows, count as zero: unit vectors never come near.
  if (!(inverse <= 3.4e38f) || inverse == 0.0f) {
    for (size_t i = 0; i < n; ++i) codes[i] = 128;
    return 0;
  }
  for (size_t i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(128 + int(nearbyintf(x[i] * inverse)));
  return scale;
}

int32_t dot_i8(const uint8_t* codes, const int8_t* query, int32_t, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (int32_t(codes[i]) - 128) * int32_t(query[i]);
  return sum;
}

int32_t dot_codes(const uint8_t* a, int32_t, const uint8_t* b, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (int32_t(a[i]) - 128) * (int32_t(b[i]) - 128);
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

const Kernels kScalar = {"scalar", kLanes,       dot_f32, sum_squares_f32, divide_f32, dot_f64,
                         tile_f32, quantize_f32, dot_i8,  dot_codes,       rows_i8,    tile_i8};

}  // namespace errata::simd
