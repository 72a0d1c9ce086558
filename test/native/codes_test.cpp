#include <cstring>

#include "harness.hpp"
#include "index/vector_store.hpp"
#include "naive.hpp"

using namespace errata;
using namespace errata::test;

namespace {

std::vector<std::uint8_t> random_codes(std::size_t n, std::mt19937_64& random) {
  std::vector<std::uint8_t> codes(n);
  for (auto& code : codes) code = static_cast<std::uint8_t>(1 + random() % 255);
  return codes;
}

std::vector<std::int8_t> as_query(const std::vector<std::uint8_t>& codes) {
  std::vector<std::int8_t> query;
  for (const std::uint8_t code : codes) query.push_back(static_cast<std::int8_t>(int(code) - 128));
  return query;
}

std::int32_t sum_of(const std::vector<std::int8_t>& query) {
  std::int32_t sum = 0;
  for (const std::int8_t value : query) sum += value;
  return sum;
}

}  // namespace

ERRATA_TEST(codes_are_the_same_bytes_in_every_variant_and_lose_at_most_half_a_step) {
  std::mt19937_64 random(seed());
  for (std::size_t n = 1; n <= 257; ++n) {
    const std::vector<float> x = random_units(1, n, 0, random);
    std::vector<std::uint8_t> expected(n), codes(n + 1, 7);
    const float scale = simd::kScalar.quantize_f32(x.data(), n, expected.data());
    float largest = 0;
    for (const float value : x) largest = std::max(largest, std::fabs(value));
    CHECK(scale == largest / 127.0f);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(std::fabs(double(scale) * (int(expected[i]) - 128) - x[i]) <= 0.5001 * scale);
    }
    for (const simd::Kernels* isa : simd::available()) {
      CHECK(isa->quantize_f32(x.data(), n, codes.data()) == scale);
      CHECK_MESSAGE(std::memcmp(codes.data(), expected.data(), n) == 0, isa->name);
      CHECK(codes[n] == 7);
    }
  }
  for (const simd::Kernels* isa : simd::available()) {
    for (const float tiny : {0.0f, 1e-45f, 1e-39f}) {
      const std::vector<float> x(100, tiny);
      std::vector<std::uint8_t> codes(100), expected(100);
      CHECK(isa->quantize_f32(x.data(), 100, codes.data()) ==
            simd::kScalar.quantize_f32(x.data(), 100, expected.data()));
      CHECK_MESSAGE(codes == expected, isa->name);
    }
    const float ties[] = {127.0f, 0.5f, 1.5f, -0.5f, -2.5f};
    std::uint8_t codes[5];
    CHECK(isa->quantize_f32(ties, 5, codes) == 1.0f);
    CHECK_MESSAGE(codes[1] == 128 && codes[2] == 130 && codes[3] == 128 && codes[4] == 126, isa->name);
  }
}

ERRATA_TEST(dots_of_codes_are_exact_in_every_variant_at_every_length) {
  std::mt19937_64 random(seed() + 1);
  std::vector<std::size_t> lengths = {384, 768, 1000, 4096, 65'536};
  for (std::size_t n = 0; n <= 257; ++n) lengths.push_back(n);
  for (const std::size_t n : lengths) {
    auto a = random_codes(n, random), b = random_codes(n, random);
    if (n == 65'536) {
      std::fill(a.begin(), a.end(), std::uint8_t{255});
      std::fill(b.begin(), b.end(), std::uint8_t{1});
    }
    const std::vector<std::int8_t> query = as_query(b);
    std::int64_t exact = 0;
    for (std::size_t i = 0; i < n; ++i) exact += std::int64_t(int(a[i]) - 128) * query[i];
    for (const simd::Kernels* isa : simd::available()) {
      CHECK_MESSAGE(isa->dot_i8(a.data(), query.data(), sum_of(query), n) == exact,
                    std::string(isa->name) + " n " + std::to_string(n));
      CHECK_MESSAGE(isa->dot_codes(a.data(), sum_of(as_query(a)), b.data(), n) == exact, isa->name);
    }
  }
}

ERRATA_TEST(rows_and_tiles_give_what_single_dots_give) {
  std::mt19937_64 random(seed() + 2);
  for (const std::size_t n : {1u, 15u, 64u, 100u, 384u}) {
    constexpr std::size_t kRows = 11, kTile = simd::kTile;
    const auto codes = random_codes(kRows * n, random);
    std::vector<std::int8_t> queries;
    std::vector<std::int32_t> sums;
    for (std::size_t q = 0; q < kTile; ++q) {
      const auto query = as_query(random_codes(n, random));
      queries.insert(queries.end(), query.begin(), query.end());
      sums.push_back(sum_of(query));
    }
    const std::vector<float> floats = random_units(2 * kTile, n, 0, random);
    for (const simd::Kernels* isa : simd::available()) {
      std::int32_t rows[kRows], tile[kTile * kTile];
      isa->rows_i8(codes.data(), kRows, queries.data(), sums[0], n, rows);
      isa->tile_i8(codes.data(), queries.data(), sums.data(), n, tile);
      for (std::size_t r = 0; r < kRows; ++r) {
        CHECK_MESSAGE(rows[r] == simd::kScalar.dot_i8(&codes[r * n], queries.data(), sums[0], n), isa->name);
      }
      float dots[kTile * kTile];
      isa->tile_f32(floats.data(), n, &floats[kTile * n], n, n, dots);
      for (std::size_t r = 0; r < kTile; ++r) {
        for (std::size_t q = 0; q < kTile; ++q) {
          CHECK_MESSAGE(
              tile[r * kTile + q] == simd::kScalar.dot_i8(&codes[r * n], &queries[q * n], sums[q], n),
              isa->name);
          double exact = 0, magnitude = 0;
          for (std::size_t i = 0; i < n; ++i) {
            const double product = double(floats[r * n + i]) * floats[(kTile + q) * n + i];
            exact += product;
            magnitude += std::fabs(product);
          }
          const double bound = (double(n) / double(isa->lanes) + 8) * 5.96e-8 * magnitude;
          CHECK_MESSAGE(std::fabs(dots[r * kTile + q] - exact) <= bound, isa->name);
        }
      }
    }
  }
}

namespace {

/// Data that is hard on codes: a shared mean, axes of power-law scale, outlier dimensions that take the
/// scale.
std::vector<float> hard_units(std::size_t n, std::size_t dimensions, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> rows(n * dimensions);
  for (std::size_t i = 0; i < n; ++i) {
    float* row = &rows[i * dimensions];
    for (std::size_t d = 0; d < dimensions; ++d) {
      const float scale = std::pow(1.0f + float(d), -0.35f);
      row[d] = scale * (0.5f + normal(random));
      if (d % 97 == 7) row[d] = 3.0f + 4.0f * scale * normal(random);
    }
    simd::normalize_f32(kernels(), row, dimensions);
  }
  return rows;
}

void compare_with_naive(const std::vector<float>& rows, const std::vector<float>& queries,
                        std::size_t dimensions, const char* label) {
  const std::size_t n = rows.size() / dimensions, count = queries.size() / dimensions;
  NaivePartition model;
  for (Key key = 0; key < n; ++key) {
    const float* row = &rows[key * dimensions];
    model.entries[key] = {{key, 0}, {{0, std::vector<float>(row, row + dimensions)}}, {}};
  }
  for (const bool codes : {true, false}) {
    PartitionOptions options;
    options.dimensions = dimensions;
    options.graph_threshold = n + 1;
    options.codes = codes;
    Partition partition(options, kernels());
    CHECK(partition.put(plain_batch(0, n, rows.data(), dimensions)).ok());
    std::vector<Answer> batch;
    Query shared;
    shared.k = 10;
    CHECK(partition.search_batch(queries.data(), count, shared, batch).ok());
    std::size_t rescored = 0;
    for (std::size_t q = 0; q < count; ++q) {
      const float* query = &queries[q * dimensions];
      const std::vector<Hit> expected = model.search(query, dimensions, 10, {});
      Answer answer;
      Query single = shared;
      single.vector = query;
      CHECK(partition.search(single, answer).ok());
      CHECK_MESSAGE(answer.exhaustive && same(answer.hits, expected), label);
      CHECK_MESSAGE(same(batch[q].hits, expected), label);
      rescored += answer.rescored;
    }
    std::printf("  %s, codes %d: %zu of %zu rows scored exactly a query\n", label, int(codes),
                rescored / count, n);
    CHECK(rescored / count < n / 2);
  }
}

}  // namespace

ERRATA_TEST(a_scan_over_codes_equals_the_exact_scan_on_clusters_hard_data_and_repeats) {
  std::mt19937_64 random(seed() + 3);
  constexpr std::size_t kDimensions = 384, kRows = 4000, kQueries = 17;
  std::vector<float> rows = random_units(kRows + kQueries, kDimensions, 100, random);
  const auto cut = rows.begin() + static_cast<std::ptrdiff_t>(kRows * kDimensions);
  compare_with_naive({rows.begin(), cut}, {cut, rows.end()}, kDimensions, "clusters");
  rows = hard_units(kRows + kQueries, kDimensions, random);
  const auto hard_cut = rows.begin() + static_cast<std::ptrdiff_t>(kRows * kDimensions);
  compare_with_naive({rows.begin(), hard_cut}, {hard_cut, rows.end()}, kDimensions, "hard");
  // Hundreds of equal rows: ties at the edge of the answer fall by order, not by what the codes say.
  const std::vector<float> few = random_units(9, 40, 0, random);
  std::vector<float> repeated;
  for (std::size_t i = 0; i < 900; ++i) {
    const auto begin = few.begin() + static_cast<std::ptrdiff_t>(i % 9 * 40);
    repeated.insert(repeated.end(), begin, begin + 40);
  }
  compare_with_naive(repeated, few, 40, "repeats");
}
