#pragma once

#include <cstddef>

namespace errata {

/// What a check of the graph found. Rows that it cannot find are linked anew; what is lost even then is
/// compared beside the graph in every search, so that no answer misses it.
struct AuditReport {
  std::size_t checked = 0;     // rows that were searched for
  std::size_t lost = 0;        // of them not found
  std::size_t repaired = 0;    // times that linking a row anew made it found
  std::size_t kept_aside = 0;  // rows that stay lost
};

struct PartitionStats {
  std::size_t keys = 0;
  std::size_t rows = 0;
  std::size_t tombstones = 0;
  std::size_t kept_aside = 0;  // rows that the graph cannot find
  std::size_t compactions = 0;
  std::size_t audits = 0;
  std::size_t repairs = 0;  // rows linked anew by audits
  std::size_t row_bytes = 0;
  std::size_t code_bytes = 0;
  std::size_t graph_bytes = 0;
  std::size_t filter_bytes = 0;
  std::size_t bookkeeping_bytes = 0;
  std::size_t cached_filters = 0;
  std::size_t filter_hits = 0;  // searches whose filter was cached, and
  std::size_t filter_misses = 0;
  /// Processor time of the longest that the background held writers up at once.
  double longest_hold_us = 0;
  bool has_graph = false;
  bool building = false;  // or compacting, or checking the graph
};

}  // namespace errata
