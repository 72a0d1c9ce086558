#pragma once

#include <string>
#include <vector>

#include "common/status.hpp"
#include "simd/kernels.hpp"

namespace errata::simd {

/// Kernels that this build holds and this machine (CPU and operating system) can run, fastest first.
std::vector<const Kernels*> available();

/// Picks the fastest, or the one named by `forced` (null or empty: none). An unknown or unavailable name is
/// INVALID_CONFIG and leaves `chosen` alone.
Status choose(const char* forced, const Kernels** chosen);

/// L2-normalises in place: x / (norm + 1e-12); a zero vector stays zero. False, and x untouched, where an
/// element is not finite.
bool normalize_f32(const Kernels& kernels, float* x, size_t n);

}  // namespace errata::simd
