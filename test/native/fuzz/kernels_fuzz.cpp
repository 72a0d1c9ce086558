#include <cstdio>
#include <cstdlib>

#include "check_kernels.hpp"

// libFuzzer's target; scripts/native-tests.mjs builds and runs it where clang++ is there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong = errata::test::check_kernels(data, size);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
