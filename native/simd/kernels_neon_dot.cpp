#include "simd/kernels_neon.hpp"

#if defined(ERRATA_ARM64)
#include "simd/kernels_neon_codes.hpp"

namespace errata::simd {
namespace {

struct DotProduct {
  static int32x4_t multiply_add(int32x4_t sum, int8x16_t a, int8x16_t b) { return vdotq_s32(sum, a, b); }
};
using Codes = NeonCodes<DotProduct>;

}  // namespace

const Kernels kNeonDot = {"neondot",        16,
                          neon::dot_f32,    neon::sum_squares_f32,
                          neon::divide_f32, neon::dot_f64,
                          neon::tile_f32,   neon::quantize_f32,
                          Codes::dot_i8,    Codes::dot_codes,
                          Codes::rows_i8,   Codes::tile_i8};

}  // namespace errata::simd
#endif
