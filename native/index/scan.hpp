#pragma once

#include <cstddef>
#include <vector>

#include "common/bitmap.hpp"
#include "index/near_rows.hpp"
#include "index/stop_signal.hpp"
#include "index/vector_store.hpp"

namespace errata {

/// What a scan reads. `codes` null: the float32 rows are compared.
struct ScanSource {
  const RowStore& rows;
  const CodeStore* codes;
  const simd::Kernels& kernels;
  double code_error;  // longest loss of a row's codes

  /// What the first pass reads.
  const BlockStore& blocks() const { return codes ? codes->blocks() : rows.blocks(); }
};

/// One query, prepared for a source: the vector, its codes and how far a first-pass score may be off.
struct ScanQuery {
  const float* vector;
  CodeQuery coded;
  double margin;

  ScanQuery(const ScanSource& source, const float* query);
};

/// Offers the rows of the bitmap words `[begin, end)` to `near`. False where `stop` (may be null) ended it,
/// or where a chunk that is still to be verified is not sound.
bool scan_words(const ScanSource& source, const ScanQuery& query, const Bitmap& bits, std::size_t begin,
                std::size_t end, NearRows& near, const StopSignal* stop);

/// The same for listed slots.
bool scan_list(const ScanSource& source, const ScanQuery& query, const std::vector<Slot>& slots,
               NearRows& near, const StopSignal* stop);

/// Several queries in one pass over the rows of the words `[begin, end)`: four rows by four queries at a
/// time. `near` has one element a query.
bool scan_batch(const ScanSource& source, const std::vector<ScanQuery>& queries, const Bitmap& bits,
                std::size_t begin, std::size_t end, std::vector<NearRows>& near, const StopSignal* stop);

}  // namespace errata
