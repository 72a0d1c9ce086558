#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "index/block_store.hpp"

namespace errata {

struct NearRow {
  float score;
  Slot slot;
};

/// Rows that may be among the best `wanted`, out of approximate scores that are off by at most `margin`.
///
/// Nothing that belongs there is ever dropped: `wanted` rows score at least `floor` approximately, so at
/// least `floor - margin` truly; a row below `floor - 2 * margin` is truly below all of them. Exact scores of
/// what is left therefore give the exact answer, ties included.
class NearRows {
 public:
  NearRows(std::size_t wanted, double margin)
      : wanted_(wanted),
        margin_(static_cast<float>(2 * margin)),
        limit_(std::max<std::size_t>(128, 4 * wanted)) {
    rows_.reserve(limit_);
  }

  /// Scores below it cannot matter; it only rises.
  float bar() const { return bar_; }
  void offer(float score, Slot slot) {
    if (!(score >= bar_)) return;
    // Final scores are clamped to [-1, 1], and what is clamped ties.
    rows_.push_back({std::min(score, 1.0f), slot});
    if (rows_.size() >= limit_) tighten();
  }
  void offer_all(const NearRows& others) {
    for (const NearRow& row : others.rows_) offer(row.score, row.slot);
  }
  /// What may be among the best, in no order.
  std::vector<NearRow>& finish() {
    if (rows_.size() > wanted_) tighten();
    return rows_;
  }

 private:
  void tighten() {
    const auto kth = rows_.begin() + static_cast<std::ptrdiff_t>(wanted_ - 1);
    std::nth_element(rows_.begin(), kth, rows_.end(),
                     [](const NearRow& a, const NearRow& b) { return a.score > b.score; });
    const float bar = kth->score - margin_;
    if (bar > -1.0f) bar_ = std::max(bar_, bar);
    rows_.erase(std::remove_if(kth + 1, rows_.end(), [this](const NearRow& row) { return row.score < bar_; }),
                rows_.end());
    // Amortised: at least half of what is held is new each time.
    limit_ = std::max(limit_, 2 * rows_.size());
  }

  std::size_t wanted_;
  float margin_;
  std::size_t limit_;
  float bar_ = -std::numeric_limits<float>::infinity();
  std::vector<NearRow> rows_;
};

}  // namespace errata
