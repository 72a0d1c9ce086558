// USearch's filtered search, which its npm package does not offer, for the bench's comparison. Loads an index
// that the package saved and answers requests on standard input until that ends:
//
//   request: u32 bit, u32 k, u32 ef, float32 [dimensions]     only rows whose flags hold the bit
//   answer:  u32 count, u64 [k] keys, of which the first `count` count
//
//   errata_usearch_filtered INDEX FLAGS DIMENSIONS            FLAGS: one byte a row
//
// Its metric is our own kernel, the fastest of this machine: without USearch's optional library its own loop
// is slower, and the comparison is of the searches.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <usearch/index_dense.hpp>
#include <vector>

#include "simd/dispatch.hpp"
#include "simd/kernels.hpp"

namespace {

namespace us = unum::usearch;
using Index = us::index_dense_t;

const errata::simd::Kernels* kernels = nullptr;
std::size_t dimensions = 0;

us::distance_punned_t distance(us::byte_t const* a, us::byte_t const* b) {
  return 1.0f -
         kernels->dot_f32(reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b), dimensions);
}

int fail(const char* what) {
  std::fprintf(stderr, "errata_usearch_filtered: %s\n", what);
  return 1;
}

std::vector<std::uint8_t> read_all(const char* path) {
  std::vector<std::uint8_t> bytes;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return bytes;
  std::uint8_t part[65536];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;)
    bytes.insert(bytes.end(), part, part + n);
  std::fclose(file);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fail("Expected INDEX FLAGS DIMENSIONS");
  kernels = errata::simd::available().front();
  dimensions = std::size_t(std::atoi(argv[3]));
  const std::vector<std::uint8_t> flags = read_all(argv[2]);
  auto made = Index::make(argv[1]);
  if (!made) return fail("Expected an index that can be loaded");
  Index index = std::move(made.index);
  if (index.dimensions() != dimensions || index.size() != flags.size())
    return fail("Expected a flag for each row");
  index.change_metric(us::metric_punned_t::stateless(dimensions, reinterpret_cast<std::uintptr_t>(distance),
                                                     us::metric_punned_signature_t::array_array_k,
                                                     us::metric_kind_t::ip_k, us::scalar_kind_t::f32_k));

  struct {
    std::uint32_t bit, k, ef;
  } request;
  std::vector<float> query(dimensions);
  while (std::fread(&request, sizeof request, 1, stdin) == 1 &&
         std::fread(query.data(), sizeof(float), dimensions, stdin) == dimensions) {
    index.change_expansion_search(request.ef);
    const std::uint8_t mask = std::uint8_t(1u << request.bit);
    const auto allowed = [&flags, mask](Index::vector_key_t key) { return (flags[key] & mask) != 0; };
    auto result = index.filtered_search(query.data(), request.k, allowed, 0);
    if (!result) return fail(result.error.release());
    std::vector<Index::vector_key_t> keys(request.k);
    const std::uint32_t count = std::uint32_t(result.dump_to(keys.data()));
    std::fwrite(&count, sizeof count, 1, stdout);
    std::fwrite(keys.data(), sizeof keys[0], keys.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
