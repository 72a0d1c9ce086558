#include "index/scan.hpp"

#include <algorithm>

namespace errata {
namespace {

// Words between two looks at the stop signal: 1,024 rows, 15 us of codes or 60 us of float32 at 384
// dimensions.
constexpr std::size_t kStopWords = 16;
// Chunks of a mapped file that are mapped at once: 1.6 MB of codes at 384 dimensions.
constexpr std::size_t kFaultWords = 64;
constexpr std::size_t kStopRows = kStopWords * kChunkSlots;
// Rows ahead of the comparison that are asked for: at 100k x 384 out of memory 4 and 8 took 8.1 ms, 16 8.4
// ms, none 10.1 ms (Xeon with AVX-512, one core; a plain sum over the same bytes takes 9.1 ms).
constexpr std::size_t kPrefetchRows = 4;
// Below that many rows of a chunk, comparing them singly beats comparing all 64 and masking.
constexpr std::size_t kDenseRows = 24;

/// Slots that are compared singly. Of a thinly set bitmap the slots of many words, for rows are asked for
/// ahead within a run only.
struct SlotRun {
  static constexpr std::size_t kRoom = 4 * kChunkSlots;
  Slot slots[kRoom];
  std::size_t n = 0;

  bool full() const { return n + kChunkSlots > kRoom; }
  void add(std::size_t word, std::uint64_t mask) {
    for (; mask; mask &= mask - 1) slots[n++] = static_cast<Slot>(word * kChunkSlots + lowest_bit(mask));
  }
};

void compare_rows(const ScanSource& source, const ScanQuery& query, const Slot* slots, std::size_t n,
                  NearRows& near) {
  const RowStore& rows = source.rows;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kPrefetchRows < n) prefetch(rows.row(slots[i + kPrefetchRows]), rows.stride() * sizeof(float));
    near.offer(source.kernels.dot_f32(query.vector, rows.row(slots[i]), rows.dimensions()), slots[i]);
  }
}

void compare_codes(const ScanSource& source, const ScanQuery& query, const Slot* slots, std::size_t n,
                   NearRows& near) {
  const CodeStore& codes = *source.codes;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 2 * kPrefetchRows < n) {
      const Slot next = slots[i + 2 * kPrefetchRows];
      prefetch(codes.row(next), codes.stride());
      prefetch(&codes.meta(next), 1);
    }
    const std::int32_t dot =
        source.kernels.dot_i8(codes.row(slots[i]), query.coded.codes.data(), query.coded.sum, codes.stride());
    near.offer(static_cast<float>(dot) * (codes.meta(slots[i]).scale * query.coded.scale), slots[i]);
  }
}

void compare_code_chunk(const ScanSource& source, const ScanQuery& query, std::size_t word,
                        std::uint64_t mask, NearRows& near) {
  const CodeStore& codes = *source.codes;
  std::int32_t dots[kChunkSlots];
  float scores[kChunkSlots];
  source.kernels.rows_i8(codes.chunk(word), kChunkSlots, query.coded.codes.data(), query.coded.sum,
                         codes.stride(), dots);
  const CodeMeta* meta = codes.chunk_meta(word);
  for (std::size_t i = 0; i < kChunkSlots; ++i) {
    scores[i] = static_cast<float>(dots[i]) * (meta[i].scale * query.coded.scale);
  }
  const float bar = near.bar();
  std::uint64_t reached = 0;
  for (std::size_t i = 0; i < kChunkSlots; ++i) reached |= std::uint64_t{scores[i] >= bar} << i;
  for (reached &= mask; reached; reached &= reached - 1) {
    const unsigned i = lowest_bit(reached);
    near.offer(scores[i], static_cast<Slot>(word * kChunkSlots + i));
  }
}

/// `scores[q * kChunkSlots + row]` of a chunk's rows, tile by tile: four rows stay in L1 beside the queries
/// and the next four on their way (eight and eight did not fit: 16 queries at 1M x 384 took 1.13 times as
/// long, without asking ahead 1.4).
class BatchScorer {
 public:
  BatchScorer(const ScanSource& source, const std::vector<ScanQuery>& queries)
      : source_(source),
        count_((queries.size() + simd::kTile - 1) / simd::kTile * simd::kTile),
        stride_(source.codes ? source.codes->stride() : source.rows.stride()),
        scores_(kChunkSlots * count_) {
    // Queries side by side, the last one repeated to fill its tile.
    for (std::size_t q = 0; q < count_; ++q) {
      const ScanQuery& query = queries[std::min(q, queries.size() - 1)];
      if (source.codes) {
        codes_.insert(codes_.end(), query.coded.codes.begin(), query.coded.codes.end());
        sums_.push_back(query.coded.sum);
        scales_.push_back(query.coded.scale);
      } else {
        floats_.insert(floats_.end(), query.vector, query.vector + source.rows.dimensions());
        floats_.resize((q + 1) * stride_);
      }
    }
  }

  const float* score(std::size_t word) {
    for (std::size_t r = 0; r < kChunkSlots; r += simd::kTile) {
      for (std::size_t q = 0; q < count_; q += simd::kTile) {
        fetch_ahead(word, r + simd::kTile, q);
        tile(word, r, q);
      }
    }
    return scores_.data();
  }
  std::size_t count() const { return count_; }

 private:
  /// Asks for the part of the next rows that falls to queries `q` and following, so that memory is read while
  /// the rows at hand are compared. Past the chunk's end it asks for whatever lies there: mostly the next
  /// chunk.
  void fetch_ahead(std::size_t word, std::size_t row, std::size_t q) const {
    constexpr std::size_t kLine = 64;
    const auto chunk = source_.codes ? reinterpret_cast<std::uintptr_t>(source_.codes->chunk(word))
                                     : reinterpret_cast<std::uintptr_t>(source_.rows.chunk(word));
    const std::size_t row_bytes = stride_ * (source_.codes ? 1 : sizeof(float));
    const std::size_t lines = simd::kTile * row_bytes / kLine, tiles = count_ / simd::kTile,
                      turn = q / simd::kTile;
    const std::size_t first = lines * turn / tiles, last = lines * (turn + 1) / tiles;
    prefetch(reinterpret_cast<const void*>(chunk + row * row_bytes + first * kLine), (last - first) * kLine);
  }

  void tile(std::size_t word, std::size_t r, std::size_t q) {
    constexpr std::size_t kTile = simd::kTile;
    if (!source_.codes) {
      float out[kTile * kTile];
      source_.kernels.tile_f32(source_.rows.chunk(word) + r * stride_, stride_, &floats_[q * stride_],
                               stride_, source_.rows.dimensions(), out);
      for (std::size_t i = 0; i < kTile; ++i) {
        for (std::size_t j = 0; j < kTile; ++j) scores_[(q + j) * kChunkSlots + r + i] = out[i * kTile + j];
      }
      return;
    }
    std::int32_t out[kTile * kTile];
    source_.kernels.tile_i8(source_.codes->chunk(word) + r * stride_, &codes_[q * stride_], &sums_[q],
                            stride_, out);
    const CodeMeta* meta = source_.codes->chunk_meta(word) + r;
    for (std::size_t i = 0; i < kTile; ++i) {
      for (std::size_t j = 0; j < kTile; ++j) {
        scores_[(q + j) * kChunkSlots + r + i] =
            static_cast<float>(out[i * kTile + j]) * (meta[i].scale * scales_[q + j]);
      }
    }
  }

  const ScanSource& source_;
  const std::size_t count_;
  const std::size_t stride_;
  std::vector<float> scores_;
  std::vector<float> floats_, scales_;
  std::vector<std::int8_t> codes_;
  std::vector<std::int32_t> sums_;
};

}  // namespace

ScanQuery::ScanQuery(const ScanSource& source, const float* query) : vector(query) {
  // Rows and queries are of unit length within 1e-3 (check_unit). Float32 kernels: n / lanes + 8 roundings of
  // products whose magnitudes sum to at most |x||q| (Cauchy and Schwarz), and the clamp and rounding of the
  // final score.
  constexpr double kLongest = 1.001;
  constexpr double kRoundoff = 5.9604644775390625e-8;  // 2^-24
  const double terms =
      static_cast<double>(source.rows.dimensions()) / static_cast<double>(source.kernels.lanes);
  margin = (terms + 12) * kRoundoff * kLongest * kLongest;
  if (source.codes == nullptr) return;
  coded = source.codes->encode_query(query, source.kernels);
  // x.q - x'.q' = (x - x').q + x'.(q - q'), each at most the product of the lengths; the codes' own dot is
  // exact.
  margin += source.code_error * kLongest + (kLongest + source.code_error) * coded.error;
}

bool scan_words(const ScanSource& source, const ScanQuery& query, const Bitmap& bits, std::size_t begin,
                std::size_t end, NearRows& near, const StopSignal* stop) {
  end = std::min(end, bits.word_count());
  const bool unverified = source.blocks().unverified();
  SlotRun run;
  const auto compare = [&] {
    if (source.codes) {
      compare_codes(source, query, run.slots, run.n, near);
    } else {
      compare_rows(source, query, run.slots, run.n, near);
    }
    run.n = 0;
  };
  for (std::size_t word = begin; word < end; ++word) {
    if (stop != nullptr && word % kStopWords == 0 && stop->stopped()) return false;
    if (unverified && (word - begin) % kFaultWords == 0)
      source.blocks().fault_in(word, std::min(kFaultWords, end - word));
    const std::uint64_t mask = bits.word(word);
    if (mask == 0) continue;
    if (unverified && !source.blocks().sound(word)) return false;
    if (source.codes && count_bits(mask) >= kDenseRows) {
      compare_code_chunk(source, query, word, mask, near);
      continue;
    }
    run.add(word, mask);
    if (run.full()) compare();
  }
  compare();
  return true;
}

bool scan_list(const ScanSource& source, const ScanQuery& query, const std::vector<Slot>& slots,
               NearRows& near, const StopSignal* stop) {
  for (std::size_t begin = 0; begin < slots.size(); begin += kStopRows) {
    if (stop != nullptr && stop->stopped()) return false;
    const std::size_t n = std::min(kStopRows, slots.size() - begin);
    if (source.blocks().unverified()) {
      for (std::size_t i = begin; i < begin + n; ++i) {
        if (!source.blocks().sound(slots[i] / kChunkSlots)) return false;
      }
    }
    if (source.codes) {
      compare_codes(source, query, &slots[begin], n, near);
    } else {
      compare_rows(source, query, &slots[begin], n, near);
    }
  }
  return true;
}

bool scan_batch(const ScanSource& source, const std::vector<ScanQuery>& queries, const Bitmap& bits,
                std::size_t begin, std::size_t end, std::vector<NearRows>& near, const StopSignal* stop) {
  BatchScorer scorer(source, queries);
  for (std::size_t word = begin; word < std::min(end, bits.word_count()); ++word) {
    if (stop != nullptr && stop->stopped()) return false;
    const std::uint64_t mask = bits.word(word);
    if (mask == 0) continue;
    if (source.blocks().unverified() && !source.blocks().sound(word)) return false;
    const float* scores = scorer.score(word);
    for (std::size_t q = 0; q < queries.size(); ++q, scores += kChunkSlots) {
      const float bar = near[q].bar();
      std::uint64_t reached = 0;
      for (std::size_t i = 0; i < kChunkSlots; ++i) reached |= std::uint64_t{scores[i] >= bar} << i;
      for (reached &= mask; reached; reached &= reached - 1) {
        const unsigned i = lowest_bit(reached);
        near[q].offer(scores[i], static_cast<Slot>(word * kChunkSlots + i));
      }
    }
  }
  return true;
}

}  // namespace errata
