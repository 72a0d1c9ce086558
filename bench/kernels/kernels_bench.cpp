// Times every kernel of every instruction set of this machine, in turns with the limits of the same set: one
// JSON object a line and (set, measurement), `{"isa","name","where","gb_s":[…],"gops":[…]}`, one number a
// round. Answers are checked first; a wrong one ends the run with code 1.
//
//   errata_kernels_bench [ROUNDS] [MEBIBYTES that lie in no cache]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "limits.hpp"
#include "simd/dispatch.hpp"
#include "simd/kernels.hpp"

namespace {

using errata::simd::Kernels;
using errata::simd::kTile;

constexpr std::size_t kDimensions = 384;
constexpr std::size_t kRowBytes = kDimensions * sizeof(float);
/// Rows of the set that stays in the first-level cache: 12 KiB of floats.
constexpr std::size_t kCachedRows = 8;
constexpr std::size_t kQueries = 16;
/// A turn of a measurement on cached rows repeats until it has taken about so long.
constexpr double kTurnSeconds = 0.002;

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using Memory = std::unique_ptr<T[], Free>;

/// Aligned to huge pages and, where the system can, made of them: as the index's own blocks are.
template <typename T>
Memory<T> allocate(std::size_t count) {
  constexpr std::size_t kHuge = std::size_t(2) << 20;
  const std::size_t bytes = (count * sizeof(T) + kHuge - 1) / kHuge * kHuge;
  void* memory = std::aligned_alloc(kHuge, bytes);
  if (memory == nullptr) {
    std::fprintf(stderr, "Expected %zu MiB of memory, received none\n", bytes >> 20);
    std::exit(2);
  }
#if defined(__linux__)
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return Memory<T>(static_cast<T*>(memory));
}

/// Rows and their codes, `rows` of them, and the queries that are compared with them.
struct Data {
  std::size_t rows;
  Memory<float> floats;
  Memory<std::uint8_t> codes;
  Memory<float> scratch;
};

struct Queries {
  Memory<float> floats;
  Memory<std::int8_t> codes;
  std::vector<std::int32_t> sums;
};

Data make_data(const Kernels& kernels, std::size_t rows) {
  Data data{rows, allocate<float>(rows * kDimensions), allocate<std::uint8_t>(rows * kDimensions),
            allocate<float>(kCachedRows * kDimensions)};
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  // Different rows, cheaply: a stretch of random numbers, read from another start each.
  std::vector<float> pool(kDimensions * 64 + 4096);
  for (float& one : pool) one = uniform(random);
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(&data.floats[row * kDimensions], &pool[row * 67 % (pool.size() - kDimensions)], kRowBytes);
    kernels.quantize_f32(&data.floats[row * kDimensions], kDimensions, &data.codes[row * kDimensions]);
  }
  std::memcpy(data.scratch.get(), data.floats.get(), std::min(rows, kCachedRows) * kRowBytes);
  return data;
}

Queries make_queries(const Kernels& kernels) {
  Queries queries{allocate<float>(kQueries * kDimensions), allocate<std::int8_t>(kQueries * kDimensions),
                  std::vector<std::int32_t>(kQueries, 0)};
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::size_t i = 0; i < kQueries * kDimensions; ++i) queries.floats[i] = uniform(random);
  std::vector<std::uint8_t> codes(kDimensions);
  for (std::size_t q = 0; q < kQueries; ++q) {
    kernels.quantize_f32(&queries.floats[q * kDimensions], kDimensions, codes.data());
    for (std::size_t i = 0; i < kDimensions; ++i) {
      queries.codes[q * kDimensions + i] = std::int8_t(int(codes[i]) - 128);
      queries.sums[q] += queries.codes[q * kDimensions + i];
    }
  }
  return queries;
}

/// One thing that is timed. `run` goes over all of its data once and gives a value that depends on it.
struct Measurement {
  std::string name;
  const char* where;
  double bytes;       // read in one run
  double operations;  // in one run; a multiplication and an addition count as two
  std::function<double()> run;
  std::vector<double> seconds{};  // of one run, one a round
};

void take_turn(Measurement& one) {
  static volatile double sink = 0;
  std::size_t runs = 0;
  const double start = now();
  double elapsed = 0;
  std::size_t block = 1;
  do {
    for (std::size_t i = 0; i < block; ++i) sink = sink + one.run();
    runs += block;
    elapsed = now() - start;
    block = elapsed < kTurnSeconds / 8 ? block * 2 : block;
  } while (elapsed < kTurnSeconds);
  one.seconds.push_back(elapsed / double(runs));
}

void add_limits(std::vector<Measurement>& list, const errata::bench::Limits& limits, const Data& data,
                const char* where) {
  const std::size_t bytes = data.rows * kRowBytes / 256 * 256;
  list.push_back({"limit: read", where, double(bytes), 0, [&limits, &data, bytes] {
                    return double(
                        limits.read(reinterpret_cast<const std::uint8_t*>(data.floats.get()), bytes) & 1);
                  }});
}

void add_compute_limits(std::vector<Measurement>& list, const errata::bench::Limits& limits) {
  constexpr std::size_t kSteps = 4096;
  if (limits.multiply_add_f32 != nullptr) {
    list.push_back({"limit: multiply-add, float32", "registers", 0, kSteps * limits.f32_flops,
                    [&limits] { return double(limits.multiply_add_f32(kSteps)); }});
  }
  if (limits.multiply_add_i8 != nullptr) {
    list.push_back({"limit: multiply-add, int8", "registers", 0, kSteps * limits.i8_ops,
                    [&limits] { return double(limits.multiply_add_i8(kSteps)); }});
  }
}

void add_kernels(std::vector<Measurement>& list, const Kernels& k, Data& data, const Queries& queries,
                 const char* where) {
  const std::size_t rows = data.rows;
  const double values = double(rows * kDimensions);
  const float* floats = data.floats.get();
  const std::uint8_t* codes = data.codes.get();
  const float* query = queries.floats.get();
  list.push_back({"dot_f32, one query", where, 4 * values, 2 * values, [=, &k] {
                    double sum = 0;
                    for (std::size_t row = 0; row < rows; ++row)
                      sum += k.dot_f32(floats + row * kDimensions, query, kDimensions);
                    return sum;
                  }});
  list.push_back({"tile_f32, 16 queries", where, 4 * values, 2 * kQueries * values, [=, &k] {
                    double sum = 0;
                    float out[kTile * kTile];
                    for (std::size_t row = 0; row + kTile <= rows; row += kTile) {
                      for (std::size_t q = 0; q < kQueries; q += kTile) {
                        k.tile_f32(floats + row * kDimensions, kDimensions, query + q * kDimensions,
                                   kDimensions, kDimensions, out);
                        sum += out[0] + out[kTile * kTile - 1];
                      }
                    }
                    return sum;
                  }});
  list.push_back({"rows_i8, one query", where, values, 2 * values, [=, &k, &queries] {
                    // As the scan does: 16 rows a call.
                    constexpr std::size_t kAtOnce = 16;
                    std::int32_t out[kAtOnce];
                    double sum = 0;
                    for (std::size_t row = 0; row < rows; row += kAtOnce) {
                      const std::size_t count = std::min(kAtOnce, rows - row);
                      k.rows_i8(codes + row * kDimensions, count, queries.codes.get(), queries.sums[0],
                                kDimensions, out);
                      sum += out[count - 1];
                    }
                    return sum;
                  }});
  list.push_back({"tile_i8, 16 queries", where, values, 2 * kQueries * values, [=, &k, &queries] {
                    std::int32_t out[kTile * kTile];
                    double sum = 0;
                    for (std::size_t row = 0; row + kTile <= rows; row += kTile) {
                      for (std::size_t q = 0; q < kQueries; q += kTile) {
                        k.tile_i8(codes + row * kDimensions, queries.codes.get() + q * kDimensions,
                                  queries.sums.data() + q, kDimensions, out);
                        sum += out[0];
                      }
                    }
                    return sum;
                  }});
  list.push_back({"dot_codes, row with row", where, values, 2 * values, [=, &k] {
                    double sum = 0;
                    for (std::size_t row = 0; row < rows; ++row)
                      sum += k.dot_codes(codes, 0, codes + row * kDimensions, kDimensions);
                    return sum;
                  }});
  list.push_back({"sum_squares_f32", where, 4 * values, 2 * values, [=, &k] {
                    double sum = 0;
                    for (std::size_t row = 0; row < rows; ++row)
                      sum += k.sum_squares_f32(floats + row * kDimensions, kDimensions);
                    return sum;
                  }});
  list.push_back({"quantize_f32", where, 4 * values, 0, [=, &k, &data] {
                    double sum = 0;
                    std::uint8_t out[kDimensions];
                    for (std::size_t row = 0; row < data.rows; ++row)
                      sum += k.quantize_f32(floats + row * kDimensions, kDimensions, out);
                    return sum;
                  }});
}

/// Dots within their stated bound of a double loop, codes' dots exactly. Speed that computes something else
/// is none.
bool right(const Kernels& k, const Data& data, const Queries& queries) {
  float tile[kTile * kTile];
  std::int32_t tile_codes[kTile * kTile];
  k.tile_f32(data.floats.get(), kDimensions, queries.floats.get(), kDimensions, kDimensions, tile);
  k.tile_i8(data.codes.get(), queries.codes.get(), queries.sums.data(), kDimensions, tile_codes);
  for (std::size_t row = 0; row < kTile; ++row) {
    for (std::size_t q = 0; q < kTile; ++q) {
      double exact = 0, magnitude = 0;
      std::int32_t exact_codes = 0;
      for (std::size_t i = 0; i < kDimensions; ++i) {
        const double product =
            double(data.floats[row * kDimensions + i]) * double(queries.floats[q * kDimensions + i]);
        exact += product;
        magnitude += std::fabs(product);
        exact_codes += (std::int32_t(data.codes[row * kDimensions + i]) - 128) *
                       std::int32_t(queries.codes[q * kDimensions + i]);
      }
      const double bound = (double(kDimensions) / double(k.lanes) + 8) * std::ldexp(magnitude, -24);
      const float single =
          k.dot_f32(&data.floats[row * kDimensions], &queries.floats[q * kDimensions], kDimensions);
      const std::int32_t single_codes = k.dot_i8(
          &data.codes[row * kDimensions], &queries.codes[q * kDimensions], queries.sums[q], kDimensions);
      if (std::fabs(single - exact) > bound || std::fabs(tile[row * kTile + q] - exact) > bound) return false;
      if (single_codes != exact_codes || tile_codes[row * kTile + q] != exact_codes) return false;
    }
  }
  return true;
}

void print_rates(const char* name, double amount, const std::vector<double>& seconds) {
  std::printf(",\"%s\":[", name);
  for (std::size_t i = 0; i < seconds.size(); ++i)
    std::printf("%s%.4g", i == 0 ? "" : ",", amount / seconds[i] * 1e-9);
  std::printf("]");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::size_t mebibytes = argc > 2 ? std::size_t(std::atoi(argv[2])) : 1024;
  if (rounds < 1 || mebibytes < 1) {
    std::fprintf(stderr, "usage: errata_kernels_bench [ROUNDS] [MEBIBYTES]\n");
    return 2;
  }
  for (const Kernels* kernels : errata::simd::available()) {
    const Queries queries = make_queries(*kernels);
    Data cached = make_data(*kernels, kCachedRows);
    Data far = make_data(*kernels, (mebibytes << 20) / kRowBytes / 16 * 16);
    if (!right(*kernels, cached, queries) || !right(*kernels, far, queries)) {
      std::fprintf(stderr, "%s: a kernel's answer is wrong\n", kernels->name);
      return 1;
    }
    const errata::bench::Limits limits = errata::bench::limits_of(kernels->name);
    std::vector<Measurement> list;
    add_compute_limits(list, limits);
    add_limits(list, limits, cached, "first-level cache");
    add_kernels(list, *kernels, cached, queries, "first-level cache");
    add_limits(list, limits, far, "memory");
    add_kernels(list, *kernels, far, queries, "memory");
    for (int round = 0; round < rounds; ++round) {
      for (Measurement& one : list) take_turn(one);
    }
    for (const Measurement& one : list) {
      std::printf("{\"isa\":\"%s\",\"name\":\"%s\",\"where\":\"%s\"", kernels->name, one.name.c_str(),
                  one.where);
      if (one.bytes > 0) print_rates("gb_s", one.bytes, one.seconds);
      if (one.operations > 0) print_rates("gops", one.operations, one.seconds);
      std::printf("}\n");
    }
    std::fflush(stdout);
  }
  return 0;
}
