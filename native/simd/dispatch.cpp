#include "simd/dispatch.hpp"

#include <cmath>

namespace errata::simd {
namespace {

#if defined(ERRATA_X86) && (defined(__GNUC__) || defined(__clang__))
// __builtin_cpu_supports asks cpuid and XGETBV, so a kernel that does not save the wide registers counts as
// without.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f");
}
#endif

}  // namespace

std::vector<const Kernels*> available() {
  std::vector<const Kernels*> found;
#if defined(ERRATA_X86) && (defined(__GNUC__) || defined(__clang__))
  __builtin_cpu_init();
  if (has_avx512()) found.push_back(&kAvx512);
  if (has_avx2()) found.push_back(&kAvx2);
#endif
#if defined(ERRATA_ARM64)
  found.push_back(&kNeon);  // part of the ARMv8 base
#endif
  found.push_back(&kScalar);
  return found;
}

Status choose(const char* forced, const Kernels** chosen) {
  const std::vector<const Kernels*> found = available();
  if (forced == nullptr || *forced == '\0') {
    *chosen = found.front();
    return {};
  }
  std::string names;
  for (const Kernels* kernels : found) {
    if (std::string(kernels->name) == forced) {
      *chosen = kernels;
      return {};
    }
    names += (names.empty() ? "" : ", ") + std::string(kernels->name);
  }
  return Status::fail(Code::kInvalidConfig,
                      "Expected one of " + names + " for ERRATA_ISA on this machine, received " + forced);
}

bool normalize_f32(const Kernels& kernels, float* x, size_t n) {
  const double squares = kernels.sum_squares_f32(x, n);
  if (!std::isfinite(squares)) return false;
  kernels.divide_f32(x, n, std::sqrt(squares) + 1e-12);
  return true;
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

}  // namespace errata::simd
