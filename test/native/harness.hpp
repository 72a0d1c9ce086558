#pragma once

#if defined(__linux__)
#include <time.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "simd/kernels.hpp"

/// A test harness of one page: tests register themselves, a failed CHECK is counted and printed, the run goes
/// on.
namespace errata::test {

struct Test {
  const char* name;
  void (*run)();
};

/// Under ThreadSanitizer and AddressSanitizer tests take ten to twenty times as long: big ones take fewer
/// rows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlow = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif
#else
constexpr bool kSlow = false;
#endif

/// CPU time of this thread, so that what else the machine does is not counted; 0 where it cannot be read.
inline double cpu_ms() {
#if defined(__linux__)
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
#else
  return 0;
#endif
}

std::vector<Test>& tests();
void fail(const char* file, int line, const std::string& what);
/// Ends the test as skipped; the reason is printed.
void skip(const std::string& why);
/// The kernels chosen by ERRATA_ISA, or the fastest.
const simd::Kernels& kernels();
/// Seed of this run: fixed, unless ERRATA_SEED is set; printed at the start.
std::uint64_t seed();

struct Registration {
  Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

#define ERRATA_TEST(name)                                                        \
  static void name();                                                            \
  static const ::errata::test::Registration registration_of_##name(#name, name); \
  static void name()

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) ::errata::test::fail(__FILE__, __LINE__, #condition); \
  } while (false)

#define CHECK_MESSAGE(condition, message)                                                                   \
  do {                                                                                                      \
    if (!(condition)) ::errata::test::fail(__FILE__, __LINE__, std::string(#condition) + ": " + (message)); \
  } while (false)

/// Unit vectors `[n, dimensions]` around `clusters` random centres, as real embeddings lie; 0 clusters: no
/// centres.
inline std::vector<float> random_units(std::size_t n, std::size_t dimensions, std::size_t clusters,
                                       std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> centres(clusters * dimensions);
  for (float& x : centres) x = normal(random);
  std::vector<float> rows(n * dimensions);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t centre = clusters ? random() % clusters : 0;
    double squares = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      float x = normal(random);
      if (clusters) x = centres[centre * dimensions + d] + 0.7f * x;
      rows[i * dimensions + d] = x;
      squares += double(x) * x;
    }
    const double norm = std::sqrt(squares);
    for (std::size_t d = 0; d < dimensions; ++d)
      rows[i * dimensions + d] = float(rows[i * dimensions + d] / norm);
  }
  return rows;
}

}  // namespace errata::test
