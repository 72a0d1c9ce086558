#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "index/block_store.hpp"
#include "simd/kernels.hpp"

namespace errata {

/// Rows of a snapshot that are verified together: few, for a search scores few of a chunk exactly.
constexpr std::size_t kRowsAPiece = 8;

/// Rows `[capacity, dimensions]` float32; each starts on a cache line, the pad is zero.
class RowStore {
 public:
  explicit RowStore(std::size_t dimensions)
      : dimensions_(dimensions),
        stride_((dimensions + 15) / 16 * 16),
        blocks_(kChunkSlots * stride_ * sizeof(float)) {}

  std::size_t dimensions() const { return dimensions_; }
  std::size_t stride() const { return stride_; }
  BlockStore& blocks() { return blocks_; }
  const BlockStore& blocks() const { return blocks_; }

  /// Bytes that are verified together in a snapshot, and whether those of a row are sound; see BlockStore.
  std::size_t piece_bytes() const { return kRowsAPiece * stride_ * sizeof(float); }
  bool sound(Slot slot) const { return blocks_.part_sound(slot / kRowsAPiece); }

  const float* chunk(std::size_t index) const { return reinterpret_cast<const float*>(blocks_.chunk(index)); }
  const float* row(Slot slot) const { return chunk(slot / kChunkSlots) + (slot % kChunkSlots) * stride_; }
  float* row(Slot slot) { return const_cast<float*>(static_cast<const RowStore*>(this)->row(slot)); }

 private:
  std::size_t dimensions_;
  std::size_t stride_;
  BlockStore blocks_;
};

/// What a row of codes needs beside its bytes.
struct CodeMeta {
  float scale;
  std::int32_t sum;  // of the codes without their bias
};

/// A vector as codes for use as a query: signed, padded with zeros to a store's stride.
struct CodeQuery {
  std::vector<std::int8_t> codes;
  float scale = 0;
  std::int32_t sum = 0;
  double error = 0;  // length of what quantisation lost
};

/// Codes of rows: one byte an element (see Kernels::quantize_f32), then the chunk's 64 CodeMeta. Pads hold
/// the code of zero. 1.33 cache lines a row more than a quarter of the float32 rows at 384 dimensions.
class CodeStore {
 public:
  explicit CodeStore(std::size_t dimensions)
      : dimensions_(dimensions),
        stride_((dimensions + 63) / 64 * 64),
        blocks_(kChunkSlots * (stride_ + sizeof(CodeMeta))) {}

  std::size_t stride() const { return stride_; }
  BlockStore& blocks() { return blocks_; }
  const BlockStore& blocks() const { return blocks_; }

  const std::uint8_t* chunk(std::size_t index) const {
    return reinterpret_cast<const std::uint8_t*>(blocks_.chunk(index));
  }
  const CodeMeta* chunk_meta(std::size_t index) const {
    return reinterpret_cast<const CodeMeta*>(blocks_.chunk(index) + kChunkSlots * stride_);
  }
  const std::uint8_t* row(Slot slot) const {
    return chunk(slot / kChunkSlots) + (slot % kChunkSlots) * stride_;
  }
  const CodeMeta& meta(Slot slot) const { return chunk_meta(slot / kChunkSlots)[slot % kChunkSlots]; }

  /// Encodes a row; returns the length of what was lost.
  double encode(Slot slot, const float* row, const simd::Kernels& kernels) {
    std::uint8_t* codes = const_cast<std::uint8_t*>(this->row(slot));
    CodeMeta& meta = const_cast<CodeMeta&>(this->meta(slot));
    meta.scale = kernels.quantize_f32(row, dimensions_, codes);
    std::memset(codes + dimensions_, 128, stride_ - dimensions_);
    meta.sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < dimensions_; ++i) {
      const int code = int(codes[i]) - 128;
      meta.sum += code;
      const double lost = double(row[i]) - double(meta.scale) * code;
      squares += lost * lost;
    }
    return std::sqrt(squares);
  }

  CodeQuery encode_query(const float* vector, const simd::Kernels& kernels) const {
    CodeQuery query;
    query.codes.resize(stride_);
    std::uint8_t* bytes = reinterpret_cast<std::uint8_t*>(query.codes.data());
    query.scale = kernels.quantize_f32(vector, dimensions_, bytes);
    double squares = 0;
    for (std::size_t i = 0; i < dimensions_; ++i) {
      const int code = int(bytes[i]) - 128;
      query.codes[i] = static_cast<std::int8_t>(code);
      query.sum += code;
      const double lost = double(vector[i]) - double(query.scale) * code;
      squares += lost * lost;
    }
    query.error = std::sqrt(squares);
    return query;
  }

  /// A stored row as a query.
  void load_query(Slot slot, CodeQuery& query) const {
    query.codes.resize(stride_);
    const std::uint8_t* codes = row(slot);
    for (std::size_t i = 0; i < stride_; ++i) query.codes[i] = static_cast<std::int8_t>(codes[i] ^ 0x80);
    query.scale = meta(slot).scale;
    query.sum = meta(slot).sum;
  }

 private:
  std::size_t dimensions_;
  std::size_t stride_;
  BlockStore blocks_;
};

}  // namespace errata
