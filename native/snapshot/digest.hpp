#pragma once

#include <cstddef>
#include <cstdint>

namespace errata {

/// 64 bits over `bytes` bytes, which must be a multiple of 8. Eight chains, each word taken up by steps that
/// lose nothing (exclusive or, an odd factor, a rotation): a change within any one word always changes the
/// result; others are missed once in 2^64. Not for use against forgers. About the speed of memory.
std::uint64_t digest(std::uint64_t seed, const void* data, std::size_t bytes);

/// Takes another digest up into `sum`, in order.
std::uint64_t combine_digests(std::uint64_t sum, std::uint64_t next);

}  // namespace errata
