#include <map>
#include <set>

#include "harness.hpp"
#include "index/graph_walk.hpp"

using namespace errata;
using namespace errata::test;

namespace {

/// Nodes in a ring with some random links; the distance is a number a node.
struct Ring {
  std::map<Slot, std::vector<Slot>> links;
  std::map<Slot, float> distances;
  std::size_t compared = 0, most = 1'000'000;

  template <typename Take>
  void each(Slot slot, std::size_t level, Take take) const {
    CHECK(level == 3);
    for (const Slot to : links.at(slot)) take(to);
  }
  void fetch(Slot) const {}
  float distance(Slot slot) {
    ++compared;
    return distances.at(slot);
  }
  bool stopped() const { return compared >= most; }
};

Ring random_ring(std::size_t nodes, std::mt19937_64& random) {
  Ring ring;
  for (Slot slot = 0; slot < nodes; ++slot) {
    // Numbers far apart, and distances that often tie.
    ring.distances[slot * 7919] = float(random() % 50);
    std::vector<Slot>& links = ring.links[slot * 7919];
    links.push_back((slot + 1) % Slot(nodes) * 7919);
    for (std::size_t i = random() % 6; i > 0; --i) links.push_back(Slot(random() % nodes) * 7919);
  }
  return ring;
}

/// The same walk in the plainest form: of the `width` nearest met so far, follow the nearest that was not
/// followed.
std::vector<Slot> plain_walk(Ring ring, std::vector<Slot> begin, std::size_t width) {
  std::set<std::pair<float, Slot>> near;
  std::set<Slot> met, followed;
  const auto keep = [&](Slot slot) {
    if (!met.insert(slot).second) return;
    near.insert({ring.distances[slot], slot});
    if (near.size() > width) near.erase(std::prev(near.end()));
  };
  for (const Slot slot : begin) keep(slot);
  for (;;) {
    const auto next = std::find_if(near.begin(), near.end(),
                                   [&](const auto& node) { return followed.count(node.second) == 0; });
    if (next == near.end()) break;
    const Slot slot = next->second;
    followed.insert(slot);
    for (const Slot to : ring.links[slot]) keep(to);
  }
  std::vector<Slot> slots;
  for (const auto& node : near) slots.push_back(node.second);
  return slots;
}

}  // namespace

ERRATA_TEST(a_walk_finds_what_a_plain_one_finds_in_the_same_order) {
  std::mt19937_64 random(seed());
  WalkBuffers buffers;
  for (std::size_t round = 0; round < 300; ++round) {
    Ring ring = random_ring(2 + random() % (round % 50 == 0 ? 5000 : 200), random);
    const std::size_t width = 1 + random() % 40;
    buffers.beam.clear();
    std::vector<Slot> begin;
    for (const auto& [slot, distance] : ring.distances) {
      if (buffers.beam.size() < std::min<std::size_t>(width, 1 + round % 5)) {
        begin.push_back(slot);
        buffers.beam.push_back({distance, slot, true});
      }
    }
    std::sort(buffers.beam.begin(), buffers.beam.end());
    walk_level(ring, ring, 3, width, buffers);
    std::vector<Slot> found;
    for (const WalkNode& node : buffers.beam) found.push_back(node.slot);
    CHECK(found == plain_walk(ring, begin, width));
    buffers.shrink();
  }
}

ERRATA_TEST(a_walk_wide_enough_finds_all_nodes_and_one_that_is_stopped_ends_early) {
  std::mt19937_64 random(seed());
  constexpr std::size_t kNodes = 20'000;
  Ring ring = random_ring(kNodes, random);
  WalkBuffers buffers;
  buffers.beam = {{ring.distances[0], 0, false}};
  walk_level(ring, ring, 3, kNodes, buffers);
  CHECK(buffers.beam.size() == kNodes);
  CHECK(ring.compared == kNodes - 1);
  CHECK(std::is_sorted(buffers.beam.begin(), buffers.beam.end()));
  // What so many left in the buffers is forgotten before the next walk.
  buffers.shrink();
  buffers.beam = {{ring.distances[0], 0, false}};
  ring.compared = 0;
  ring.most = 100;
  walk_level(ring, ring, 3, kNodes, buffers);
  CHECK(ring.compared >= 100 && ring.compared < 110);
  CHECK(buffers.beam.size() == ring.compared + 1);
}
