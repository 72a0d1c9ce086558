#include "simd/dispatch.hpp"

#include <cmath>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace errata::simd {
namespace {

#if defined(ERRATA_X86) && (defined(__GNUC__) || defined(__clang__))
// __builtin_cpu_supports asks cpuid and XGETBV, so a kernel that does not save the wide registers counts as
// without.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}
bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

#if defined(ERRATA_ARM64)
bool has_neon_dot() {
#if defined(__APPLE__)
  return true;  // every arm64 Mac
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;
#endif
}
#endif

}  // namespace

std::vector<const Kernels*> available() {
  std::vector<const Kernels*> found;
#if defined(ERRATA_X86) && (defined(__GNUC__) || defined(__clang__))
  __builtin_cpu_init();
  if (has_avx512_vnni()) found.push_back(&kAvx512Vnni);
  if (has_avx512()) found.push_back(&kAvx512);
  if (has_avx2()) found.push_back(&kAvx2);
#endif
#if defined(ERRATA_ARM64)
  if (has_neon_dot()) found.push_back(&kNeonDot);
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

}  // namespace errata::simd
