#pragma once

#include <cstddef>

#include "simd/kernels.hpp"

namespace errata {

/// What the steps of a search cost on this machine, in microseconds of one core. The planner compares plans
/// by them.
struct CostModel {
  double fixed_us = 0;       // a search of nothing: quantising the query, ranking ten hits
  double row_us = 0;         // a row of a whole chunk, compared in order
  double picked_row_us = 0;  // a row picked out by a filter
  double node_us = 0;        // a node of the graph: fetched, compared, queued
  double calibration_ms = 0;
};

/// What searches of one graph take, measured on it once it is built.
struct GraphCosts {
  // Of graphs that have not been measured; 16.6 at 100k rows of 384 dimensions, connectivity 16.
  double nodes_per_beam = 17;           // comparisons over the beam
  double filtered_nodes_per_beam = 17;  // those under a filter, times the share that it allows
  // A longer list of results, and a test a node: a node under a filter over one without.
  double filtered_node = 1.5;
};

/// Measures them: about 30 ms, with rows too many for the second-level cache. Once for each pair of
/// dimensions and `codes` in a process; later calls return the first outcome. Thread-safe.
const CostModel& calibrated_costs(const simd::Kernels& kernels, std::size_t dimensions, bool codes);

}  // namespace errata
