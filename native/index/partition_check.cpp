#include <cmath>

#include "index/partition.hpp"

// What a batch must fulfil before any of it is applied.

namespace errata {
namespace {

// Vectors come from float32 arithmetic (error near 1e-7) or half-precision stores (near 5e-4).
constexpr double kUnitTolerance = 1e-3;

}  // namespace

Status check_unit(const simd::Kernels& kernels, const float* vector, std::size_t n, const char* name) {
  const double squares = kernels.sum_squares_f32(vector, n);
  if (!std::isfinite(squares)) {
    return Status::fail(Code::kInvalidVector,
                        std::string("Expected finite numbers for ") + name + ", received NaN or infinity");
  }
  const double norm = std::sqrt(squares);
  if (std::fabs(norm - 1.0) > kUnitTolerance) {
    return Status::fail(Code::kInvalidVector, std::string("Expected unit length for ") + name +
                                                  ", received length " + std::to_string(norm));
  }
  return {};
}

Status Partition::check_batch(const PutBatch& batch) const {
  const std::size_t n = batch.keys.size();
  const std::size_t rows = batch.kinds.size();
  const auto bad = [](const char* text) { return Status::fail(Code::kInvalidInput, text); };
  if (batch.orders.size() != n) return bad("Expected one order for each key");
  if (batch.row_begin.size() != n + 1 || batch.row_begin.front() != 0 || batch.row_begin.back() != rows) {
    return bad("Expected rowBegin to cut the rows by key");
  }
  if (batch.tag_begin.size() != n + 1 || batch.tag_begin.front() != 0 ||
      batch.tag_begin.back() != batch.tags.size()) {
    return bad("Expected tagBegin to cut the tags by key");
  }
  if (batch.vectors.size() != rows * options_.dimensions) {
    return Status::fail(Code::kInvalidVector, "Expected " + std::to_string(rows * options_.dimensions) +
                                                  " numbers for vectors, received " +
                                                  std::to_string(batch.vectors.size()));
  }
  for (const Tag tag : batch.tags) {
    if (tag > kLargestTag) return bad("Expected tags below the operators of a filter");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (batch.row_begin[i] >= batch.row_begin[i + 1] || batch.row_begin[i + 1] > rows) {
      return bad("Expected at least one row for each key");
    }
    if (batch.tag_begin[i] > batch.tag_begin[i + 1]) return bad("Expected tagBegin to ascend");
    unsigned seen = 0;
    for (std::size_t row = batch.row_begin[i]; row < batch.row_begin[i + 1]; ++row) {
      if (batch.kinds[row] >= kRowKinds || (seen >> batch.kinds[row]) & 1) {
        return bad("Expected each row kind at most once for a key");
      }
      seen |= 1u << batch.kinds[row];
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    Status status =
        check_unit(kernels_, &batch.vectors[row * options_.dimensions], options_.dimensions, "vectors");
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace errata
