#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "simd/dispatch.hpp"

namespace errata::test {

/// Runs arbitrary bytes through every kernel of every variant of this machine: as float32 (what is not finite
/// counts as 1) and as codes, at any length and alignment. Empty, or what was wrong. What the variants
/// promise to share, bit for bit, is compared with the scalar one; float32 sums with a double reference and
/// their bound.
inline std::string check_kernels(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return {};
  const std::size_t offset = data[0] % 16;  // elements off alignment
  const std::uint8_t* bytes = data + 1;
  const std::size_t n = (size - 1) / 8;
  // Exactly as long as needed, so that a sanitizer sees a read past the end.
  std::vector<float> a(offset + n), b(offset + n);
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(&a[offset + i], bytes + i * 8, 4);
    std::memcpy(&b[offset + i], bytes + i * 8 + 4, 4);
    for (float* x : {&a[offset + i], &b[offset + i]}) {
      // Within the range where no product of two underflows or overflows: the bound leaves that out.
      if (!std::isfinite(*x) || std::fabs(*x) > 1e15f || std::fabs(*x) < 1e-15f) *x = 1;
    }
  }
  std::vector<std::uint8_t> codes(offset + n);
  std::vector<std::int8_t> query(n);
  std::int32_t query_sum = 0, code_sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    codes[offset + i] = bytes[i] == 0 ? 1 : bytes[i];
    query[i] = static_cast<std::int8_t>(bytes[n + i] == 128 ? 1 : bytes[n + i]);
    query_sum += query[i];
    code_sum += int(codes[offset + i]) - 128;
  }
  const float *x = a.data() + offset, *y = b.data() + offset;
  const std::uint8_t* code = codes.data() + offset;
  double exact = 0, magnitude = 0;
  for (std::size_t i = 0; i < n; ++i) {
    exact += double(x[i]) * y[i];
    magnitude += std::fabs(double(x[i]) * y[i]);
  }
  std::vector<std::uint8_t> expected(n), made(n);
  const float scale = simd::kScalar.quantize_f32(x, n, expected.data());
  const double dot64 = simd::kScalar.dot_f64(x, y, n);
  std::int64_t dot = 0, codes_dot = 0;
  for (std::size_t i = 0; i < n; ++i) {
    dot += std::int64_t(int(code[i]) - 128) * query[i];
    codes_dot += std::int64_t(int(code[i]) - 128) * (int(expected[i]) - 128);
  }
  for (const simd::Kernels* isa : simd::available()) {
    const auto wrong = [isa, n](const char* what) {
      return std::string(what) + " of " + isa->name + " at length " + std::to_string(n);
    };
    // The reference itself rounds: n times 2^-53 of the magnitude.
    const double bound =
        (double(n) / double(isa->lanes) + 8) * 0x1p-24 * magnitude + double(n) * 0x1p-53 * magnitude;
    if (std::fabs(double(isa->dot_f32(x, y, n)) - exact) > bound) return wrong("dot_f32");
    if (isa->dot_f64(x, y, n) != dot64) return wrong("dot_f64");
    const double squares = isa->sum_squares_f32(x, n);
    const double reference = simd::kScalar.sum_squares_f32(x, n);
    if (std::fabs(squares - reference) > double(n) * 0x1p-52 * reference) return wrong("sum_squares_f32");
    if (isa->quantize_f32(x, n, made.data()) != scale || made != expected) return wrong("quantize_f32");
    if (isa->dot_i8(code, query.data(), query_sum, n) != dot) return wrong("dot_i8");
    if (isa->dot_codes(code, code_sum, expected.data(), n) != codes_dot) return wrong("dot_codes");
    std::vector<float> divided(x, x + n), same(x, x + n);
    isa->divide_f32(divided.data(), n, 3.7);
    simd::kScalar.divide_f32(same.data(), n, 3.7);
    if (n != 0 && std::memcmp(divided.data(), same.data(), n * sizeof(float)) != 0)
      return wrong("divide_f32");
    // Rows and tiles over the same bytes, cut into as many rows as there are.
    const std::size_t width = n / (2 * simd::kTile);
    if (width == 0) continue;
    std::int32_t rows[simd::kTile], sums[simd::kTile], tile[simd::kTile * simd::kTile];
    for (std::size_t q = 0; q < simd::kTile; ++q) {
      sums[q] = 0;
      for (std::size_t i = 0; i < width; ++i) sums[q] += query[q * width + i];
    }
    isa->rows_i8(code, simd::kTile, query.data(), sums[0], width, rows);
    isa->tile_i8(code, query.data(), sums, width, tile);
    float dots[simd::kTile * simd::kTile];
    isa->tile_f32(x, width, y, width, width, dots);
    for (std::size_t r = 0; r < simd::kTile; ++r) {
      for (std::size_t q = 0; q < simd::kTile; ++q) {
        const std::int32_t single =
            simd::kScalar.dot_i8(code + r * width, query.data() + q * width, sums[q], width);
        if (tile[r * simd::kTile + q] != single || (q == 0 && rows[r] != single)) return wrong("tile_i8");
        double right = 0, size_of = 0;
        for (std::size_t i = 0; i < width; ++i) {
          const double product = double(x[r * width + i]) * y[q * width + i];
          right += product;
          size_of += std::fabs(product);
        }
        const double within =
            (double(width) / double(isa->lanes) + 8) * 0x1p-24 * size_of + double(width) * 0x1p-53 * size_of;
        if (std::fabs(double(dots[r * simd::kTile + q]) - right) > within) return wrong("tile_f32");
      }
    }
  }
  return {};
}

}  // namespace errata::test
