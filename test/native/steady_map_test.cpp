#include <map>

#include "common/steady_map.hpp"
#include "harness.hpp"

using namespace errata;
using namespace errata::test;

ERRATA_TEST(a_steady_map_does_what_a_map_does_through_growth_and_erasure) {
  std::mt19937_64 random(seed());
  SteadyMap<std::uint64_t, std::uint64_t> map;
  std::map<std::uint64_t, std::uint64_t> model;
  // Growth, then churn at one size, which leaves marks of what is gone, then shrinking and growth again.
  for (std::size_t step = 0; step < 120'000; ++step) {
    const std::uint64_t key = random() % 9000 * 0x100000001ULL;
    const bool grows = step < 30'000 || (step / 15'000) % 2 == 0;
    if (random() % 4 < (grows ? 3u : 1u)) {
      map[key] = step;
      model[key] = step;
    } else {
      map.erase(key);
      model.erase(key);
    }
    const std::uint64_t asked = random() % 9000 * 0x100000001ULL;
    const auto expected = model.find(asked);
    const std::uint64_t* found = map.find(asked);
    CHECK((found != nullptr) == (expected != model.end()));
    if (found != nullptr && expected != model.end()) CHECK(*found == expected->second);
    CHECK(map.size() == model.size());
  }
  std::size_t seen = 0;
  map.each([&](std::uint64_t key, std::uint64_t value) {
    ++seen;
    CHECK(model.at(key) == value);
  });
  CHECK(seen == model.size());
  CHECK(map.memory_bytes() < 9000 * 64);
}

ERRATA_TEST(values_of_a_steady_map_stay_where_they_are_while_it_grows) {
  SteadyMap<std::uint32_t, int> map;
  int* first = &map[7];
  *first = 70;
  for (std::uint32_t key = 100; key < 20'000; ++key) map[key] = 1;
  CHECK(map.find(7) == first && *first == 70);
  map.clear();
  CHECK(map.size() == 0 && map.find(7) == nullptr);
  map.reserve(5000);
  const std::size_t bytes = map.memory_bytes();
  map[7] = 1;
  CHECK(map.size() == 1 && *map.find(7) == 1 && bytes >= 5000 * sizeof(std::uint32_t));
}
