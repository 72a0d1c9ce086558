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

}  // namespace

const Kernels kScalar = {"scalar", kLanes, dot_f32, sum_squares_f32, divide_f32};

}  // namespace errata::simd
