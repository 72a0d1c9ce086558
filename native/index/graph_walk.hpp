#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "index/block_store.hpp"

namespace errata {

/// A node of a walk's beam.
struct WalkNode {
  float distance;
  Slot slot;
  bool expanded;

  bool operator<(const WalkNode& other) const {
    return distance != other.distance ? distance < other.distance : slot < other.slot;
  }
};

/// What a walk needs beside the graph, kept for the next one.
class WalkBuffers {
 public:
  std::vector<WalkNode> beam;  // nearest first
  std::vector<Slot> fresh;     // neighbours of one node that were not met before

  void forget() {
    std::fill(met_.begin(), met_.end(), kNone);
    count_ = 0;
  }
  /// Whether the slot is met for the first time since `forget`.
  bool meet(Slot slot) {
    if (2 * (count_ + 1) > met_.size()) grow();
    if (!insert(slot)) return false;
    ++count_;
    return true;
  }
  /// A walk that met very many must not have all later ones clear so much.
  void shrink() {
    if (met_.size() > kLargestKept) met_ = std::vector<Slot>(kSmallest, kNone);
  }

 private:
  static constexpr Slot kNone = 0xffff'ffff;
  static constexpr std::size_t kSmallest = 2048, kLargestKept = std::size_t{1} << 15;

  bool insert(Slot slot) {
    const std::size_t mask = met_.size() - 1;
    for (std::size_t at = (slot * 0x9e37'79b1u) >> 7 & mask;; at = (at + 1) & mask) {
      if (met_[at] == slot) return false;
      if (met_[at] != kNone) continue;
      met_[at] = slot;
      return true;
    }
  }
  void grow() {
    std::vector<Slot> old(2 * met_.size(), kNone);
    old.swap(met_);
    for (const Slot slot : old) {
      if (slot != kNone) (void)insert(slot);
    }
  }

  std::vector<Slot> met_ = std::vector<Slot>(kSmallest, kNone);
  std::size_t count_ = 0;
};

/// Follows the links of one level from the nodes in `buffers.beam`, always from the nearest one that was not
/// followed yet, until the beam holds the `width` nearest that can be come to so. USearch's own search does
/// the same; here the next node's links are fetched while the neighbours of the one before are compared, the
/// beam is one short sorted array, and it may begin at several nodes.
///
/// `Links` gives `each(slot, level, take)` and `fetch(slot)`, `Rows` gives `distance(slot)` and
/// `fetch(slot)`; a walk ends early where `rows.stopped()`.
template <typename Links, typename Rows>
void walk_level(const Links& links, Rows& rows, std::size_t level, std::size_t width, WalkBuffers& buffers) {
  std::vector<WalkNode>& beam = buffers.beam;
  buffers.forget();
  for (WalkNode& node : beam) {
    node.expanded = false;
    (void)buffers.meet(node.slot);
  }
  if (beam.size() > width) beam.resize(width);
  const auto next_after = [&beam](std::size_t at) {
    while (at < beam.size() && beam[at].expanded) ++at;
    return at;
  };
  for (std::size_t at = 0; at < beam.size() && !rows.stopped();) {
    beam[at].expanded = true;
    buffers.fresh.clear();
    links.each(beam[at].slot, level, [&](Slot slot) {
      if (!buffers.meet(slot)) return;
      rows.fetch(slot);
      buffers.fresh.push_back(slot);
    });
    std::size_t nearest = next_after(at + 1);
    // Mostly the next one to be followed.
    if (nearest < beam.size()) links.fetch(beam[nearest].slot);
    for (const Slot slot : buffers.fresh) {
      const WalkNode node{rows.distance(slot), slot, false};
      if (beam.size() >= width) {
        if (!(node < beam.back())) continue;
        beam.pop_back();
      }
      const auto place = std::upper_bound(beam.begin(), beam.end(), node);
      const std::size_t index = static_cast<std::size_t>(place - beam.begin());
      beam.insert(place, node);
      if (index <= nearest) {
        nearest = index;
        links.fetch(slot);
      }
    }
    at = next_after(std::min(nearest, beam.size()));
  }
}

}  // namespace errata
