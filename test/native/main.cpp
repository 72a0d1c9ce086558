#include <cstdlib>
#include <cstring>

#include "harness.hpp"
#include "simd/dispatch.hpp"

namespace errata::test {
namespace {

int failures = 0;
bool skipped = false;
const simd::Kernels* chosen = nullptr;

}  // namespace

std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

void fail(const char* file, int line, const std::string& what) {
  ++failures;
  if (failures <= 20) std::printf("  %s:%d: expected %s\n", file, line, what.c_str());
}

void skip(const std::string& why) {
  skipped = true;
  std::printf("  skipped: %s\n", why.c_str());
}

const simd::Kernels& kernels() {
  return *chosen;
}

std::uint64_t seed() {
  const char* given = std::getenv("ERRATA_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 20'260'131;
}

/// Whether the name contains one of the words; all do where there is none.
bool wanted(const char* name, int words, char** word) {
  for (int i = 0; i < words; ++i) {
    if (std::strstr(name, word[i]) != nullptr) return true;
  }
  return words == 0;
}

int run_all(int words, char** word) {
  const Status status = simd::choose(std::getenv("ERRATA_ISA"), &chosen);
  if (!status.ok()) {
    std::printf("%s: %s\n", code_name(status.code), status.message.c_str());
    return 2;
  }
  std::printf("isa %s, seed %llu\n", chosen->name, static_cast<unsigned long long>(seed()));
  int counts[3] = {0, 0, 0};
  for (const Test& test : tests()) {
    if (!wanted(test.name, words, word)) continue;
    failures = 0;
    skipped = false;
    test.run();
    const int outcome = failures ? 1 : skipped ? 2 : 0;
    ++counts[outcome];
    static const char* const kNames[] = {"ok", "FAILED", "skipped"};
    std::printf("%s %s\n", kNames[outcome], test.name);
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed, %d skipped\n", counts[0], counts[1], counts[2]);
  return counts[1] ? 1 : 0;
}

}  // namespace errata::test

int main(int argc, char** argv) {
  return errata::test::run_all(argc - 1, argv + 1);
}
