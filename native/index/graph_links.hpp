#pragma once

#include <cstddef>

#include "common/status.hpp"
#include "index/graph.hpp"

namespace errata {

/// Whether these are the links of `nodes` nodes as USearch's index_gt writes them: its header, a level (i16)
/// a node, then the nodes: key (u32), level, and for each level a count (u32) and room for so many slots
/// (u32).
Status check_links(const char* bytes, std::size_t size, std::size_t nodes, const GraphOptions& options);

/// That they were made with; 0 where they are too short to say.
std::size_t links_connectivity(const char* bytes, std::size_t size);

}  // namespace errata
