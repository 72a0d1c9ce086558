#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace errata {

inline unsigned count_bits(std::uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<unsigned>(__builtin_popcountll(word));
#else
  unsigned count = 0;
  for (; word; word &= word - 1) ++count;
  return count;
#endif
}

/// Index of the lowest set bit; `word` must not be zero.
inline unsigned lowest_bit(std::uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<unsigned>(__builtin_ctzll(word));
#else
  unsigned index = 0;
  for (; !(word & 1); word >>= 1) ++index;
  return index;
#endif
}

/// Bits over slots, 64 a word. Bits past the end read as clear. Not thread-safe: the partition's lock guards
/// it.
class Bitmap {
 public:
  bool test(std::size_t bit) const {
    const std::size_t word = bit >> 6;
    return word < words_.size() && ((words_[word] >> (bit & 63)) & 1);
  }
  void set(std::size_t bit) {
    if ((bit >> 6) >= words_.size()) words_.resize((bit >> 6) + 1);
    words_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
  }
  void clear(std::size_t bit) {
    if ((bit >> 6) < words_.size()) words_[bit >> 6] &= ~(std::uint64_t{1} << (bit & 63));
  }
  std::size_t word_count() const { return words_.size(); }
  std::uint64_t word(std::size_t index) const { return index < words_.size() ? words_[index] : 0; }
  void or_word(std::size_t index, std::uint64_t bits) {
    if (index >= words_.size()) words_.resize(index + 1);
    words_[index] |= bits;
  }
  void resize_words(std::size_t words) { words_.resize(words); }
  std::size_t memory_bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace errata
