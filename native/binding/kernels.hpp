#pragma once

#include "common/status.hpp"
#include "simd/kernels.hpp"

namespace errata::binding {

/// Chooses the process's kernels from ERRATA_ISA or the machine, once; later calls (worker threads load the
/// addon again) return the first outcome.
const Status& choose_kernels();

/// The chosen kernels; only after `choose_kernels()` was ok.
const simd::Kernels& active_kernels();

}  // namespace errata::binding
