#include <cstring>
#include <limits>
#include <memory>

#include "harness.hpp"
#include "simd/dispatch.hpp"

using namespace errata;
using namespace errata::test;

namespace {

constexpr double kUnitRoundoff = 5.9604644775390625e-8;  // 2^-24

/// `n` floats that end exactly where their allocation ends, so that ASan sees a read past a tail; `offset`
/// floats before them spoil the alignment.
struct Tail {
  std::unique_ptr<float[]> memory;
  float* data;

  Tail(std::size_t n, std::size_t offset, std::mt19937_64& random) : memory(new float[n + offset]) {
    data = memory.get() + offset;
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::size_t i = 0; i < n; ++i) data[i] = uniform(random);
  }
};

}  // namespace

ERRATA_TEST(dot_of_every_length_and_alignment_is_within_its_bound_of_a_double_reference) {
  std::mt19937_64 random(seed());
  for (std::size_t n = 0; n <= 257; ++n) {
    for (std::size_t offset = 0; offset < 4; ++offset) {
      const Tail a(n, offset, random), b(n, (offset * 3) % 4, random);
      double exact = 0, magnitude = 0;
      for (std::size_t i = 0; i < n; ++i) {
        exact += double(a.data[i]) * b.data[i];
        magnitude += std::fabs(double(a.data[i]) * b.data[i]);
      }
      for (const simd::Kernels* isa : simd::available()) {
        const double bound = (double(n) / double(isa->lanes) + 8) * kUnitRoundoff * magnitude;
        const double error = std::fabs(isa->dot_f32(a.data, b.data, n) - exact);
        CHECK_MESSAGE(error <= bound, std::string(isa->name) + " n " + std::to_string(n));
        const double sum = isa->dot_f64(a.data, b.data, n);
        CHECK(std::fabs(sum - exact) <= double(n) * 1.2e-16 * magnitude);
        CHECK_MESSAGE(sum == simd::kScalar.dot_f64(a.data, b.data, n), isa->name);
      }
    }
  }
}

ERRATA_TEST(dot_keeps_its_bound_at_large_lengths_and_scales) {
  std::mt19937_64 random(seed() + 1);
  for (const std::size_t n : {384u, 768u, 1024u, 4096u, 65'536u}) {
    Tail a(n, 1, random), b(n, 0, random);
    for (std::size_t i = 0; i < n; ++i) a.data[i] *= std::ldexp(1.0f, static_cast<int>(i % 40) - 20);
    double exact = 0, magnitude = 0;
    for (std::size_t i = 0; i < n; ++i) {
      exact += double(a.data[i]) * b.data[i];
      magnitude += std::fabs(double(a.data[i]) * b.data[i]);
    }
    for (const simd::Kernels* isa : simd::available()) {
      const double bound = (double(n) / double(isa->lanes) + 8) * kUnitRoundoff * magnitude;
      CHECK_MESSAGE(std::fabs(isa->dot_f32(a.data, b.data, n) - exact) <= bound, isa->name);
    }
  }
}

ERRATA_TEST(sum_of_squares_is_finite_exactly_when_every_element_is) {
  std::mt19937_64 random(seed() + 2);
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::size_t n = 1; n <= 257; ++n) {
    const Tail x(n, n % 4, random);
    double exact = 0;
    for (std::size_t i = 0; i < n; ++i) exact += double(x.data[i]) * x.data[i];
    for (const simd::Kernels* isa : simd::available()) {
      CHECK(std::fabs(isa->sum_squares_f32(x.data, n) - exact) <= double(n) * 1.2e-16 * exact);
      CHECK(isa->sum_squares_f32(x.data, 0) == 0);
      for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
        const std::size_t at = random() % n;
        const float kept = x.data[at];
        x.data[at] = bad;
        CHECK_MESSAGE(!std::isfinite(isa->sum_squares_f32(x.data, n)), isa->name);
        x.data[at] = kept;
      }
    }
  }
  const std::vector<float> largest(1000, std::numeric_limits<float>::max());
  for (const simd::Kernels* isa : simd::available()) {
    CHECK(std::isfinite(isa->sum_squares_f32(largest.data(), largest.size())));
  }
}

ERRATA_TEST(normalize_divides_by_norm_plus_epsilon) {
  std::mt19937_64 random(seed() + 3);
  for (std::size_t n = 1; n <= 257; ++n) {
    const Tail x(n, n % 4, random);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += double(x.data[i]) * x.data[i];
    for (const simd::Kernels* isa : simd::available()) {
      std::vector<float> y(x.data, x.data + n);
      CHECK(simd::normalize_f32(*isa, y.data(), n));
      for (std::size_t i = 0; i < n; ++i) {
        const double exact = x.data[i] / (std::sqrt(squares) + 1e-12);
        CHECK_MESSAGE(std::fabs(y[i] - exact) <= kUnitRoundoff * std::fabs(exact) + 1e-45, isa->name);
      }
    }
  }
  for (const simd::Kernels* isa : simd::available()) {
    std::vector<float> zero(37, 0.0f);
    CHECK(simd::normalize_f32(*isa, zero.data(), zero.size()));
    CHECK(zero == std::vector<float>(37, 0.0f));
    std::vector<float> huge(384, 3e38f);
    CHECK(simd::normalize_f32(*isa, huge.data(), huge.size()));
    CHECK(std::fabs(huge[0] - 1 / std::sqrt(384.0)) < 1e-7);
    std::vector<float> bad = {1, std::numeric_limits<float>::quiet_NaN()};
    CHECK(!simd::normalize_f32(*isa, bad.data(), 2));
    CHECK(bad[0] == 1);
  }
}

ERRATA_TEST(choosing_kernels_knows_names_and_refuses_others) {
  const simd::Kernels* chosen = nullptr;
  CHECK(simd::choose(nullptr, &chosen).ok());
  CHECK(chosen == simd::available().front());
  CHECK(simd::choose("", &chosen).ok());
  CHECK(simd::choose("scalar", &chosen).ok());
  CHECK(std::strcmp(chosen->name, "scalar") == 0);
  const Status status = simd::choose("mmx", &chosen);
  CHECK(status.code == Code::kInvalidConfig);
  CHECK(std::strcmp(chosen->name, "scalar") == 0);
}
