#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/bitmap.hpp"
#include "index/filter.hpp"
#include "index/slot_table.hpp"

namespace errata {

/// What a partition held at one moment, while it is written: writers go on, and whoever changes a chunk that
/// is still to be written keeps a copy of it first, 0.05 ms at 384 dimensions. The partition's lock guards
/// it: writers hold it alone, the one who saves shares it with searches, which do not look here.
struct SavePoint {
  /// Of 64 slots: whose they were, and the tags of notes that had their first slot here.
  struct Slots {
    std::vector<SlotInfo> infos;
    std::vector<std::uint32_t> ends;  // of each slot's tags in `tags`
    std::vector<Tag> tags;
  };
  /// Parts that were written before they changed are empty.
  struct Chunk {
    std::vector<std::byte> rows;
    std::vector<std::byte> codes;
    Slots slots;
  };

  std::size_t slots = 0;
  Bitmap live;
  Bitmap primary;
  std::size_t live_rows = 0;
  std::size_t keys = 0;
  double code_error = 0;
  bool doubtful = false;
  bool with_graph = false;
  std::string links;        // of the graph, once they were copied
  std::vector<Slot> aside;  // what it does not find

  std::unordered_map<std::size_t, Chunk> kept;
  // Chunks below are written; rows come first, then codes, then slots with their tags.
  std::size_t rows_done = 0, codes_done = 0, slots_done = 0;
};

}  // namespace errata
