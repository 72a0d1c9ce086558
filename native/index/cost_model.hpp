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

/// Measures them: about 30 ms, with rows too many for the second-level cache. Once for each pair of
/// dimensions and `codes` in a process; later calls return the first outcome. Thread-safe.
const CostModel& calibrated_costs(const simd::Kernels& kernels, std::size_t dimensions, bool codes);

}  // namespace errata
