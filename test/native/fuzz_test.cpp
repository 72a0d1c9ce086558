#include "fuzz/check_kernels.hpp"

#include "harness.hpp"

using namespace errata;
using namespace errata::test;

ERRATA_TEST(arbitrary_bytes_of_any_length_and_alignment_go_through_every_variant_alike) {
  std::mt19937_64 random(seed());
  for (std::size_t round = 0; round < 3000; ++round) {
    // Lengths around the widths of registers, and now and then a long one.
    std::vector<std::uint8_t> bytes(random() % (round % 50 == 0 ? 9000 : 1200));
    const unsigned kind = random() % 4;
    for (std::uint8_t& byte : bytes) {
      // Random, all the same, or the ends of the range, where sums are largest.
      byte = kind == 0   ? 255
             : kind == 1 ? static_cast<std::uint8_t>(random() % 2 ? 1 : 255)
                         : static_cast<std::uint8_t>(random());
    }
    const std::string wrong = check_kernels(bytes.data(), bytes.size());
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}
