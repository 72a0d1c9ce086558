#include "index/graph_links.hpp"

#include <cstdint>
#include <cstring>
#include <usearch/index.hpp>

namespace errata {

namespace us = unum::usearch;

Status check_links(const char* bytes, std::size_t size, std::size_t nodes, const GraphOptions& options) {
  const auto corrupt = [] {
    return Status::fail(Code::kCorrupt, "Expected a sound graph, received wrong links");
  };
  const auto number = [bytes](std::size_t at) {
    std::uint32_t value;
    std::memcpy(&value, bytes + at, sizeof(value));
    return value;
  };
  const auto level_at = [bytes](std::size_t at) {
    std::int16_t value;
    std::memcpy(&value, bytes + at, sizeof(value));
    return value;
  };
  us::index_serialized_header_t header;
  const std::size_t levels = sizeof(header);
  constexpr std::size_t kLevel = sizeof(std::int16_t), kWord = sizeof(std::uint32_t);
  if (size < sizeof(header) + nodes * kLevel) return corrupt();
  std::memcpy(&header, bytes, sizeof(header));
  if (header.size != nodes || nodes == 0 || header.entry_slot >= nodes ||
      header.connectivity != options.connectivity || header.connectivity_base != 2 * options.connectivity ||
      header.max_level != static_cast<std::uint64_t>(level_at(levels + header.entry_slot * kLevel))) {
    return corrupt();
  }
  std::size_t at = levels + nodes * kLevel;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::int16_t level = level_at(levels + node * kLevel);
    if (level < 0 || static_cast<std::uint64_t>(level) > header.max_level) return corrupt();
    const std::size_t room = kWord * (1 + header.connectivity_base) +
                             static_cast<std::size_t>(level) * kWord * (1 + header.connectivity);
    if (size - at < kWord + kLevel + room || level_at(at + kWord) != level) return corrupt();
    at += kWord + kLevel;
    for (std::int16_t one = 0; one <= level; ++one) {
      const std::size_t most = one == 0 ? header.connectivity_base : header.connectivity;
      const std::uint32_t links = number(at);
      if (links > most) return corrupt();
      for (std::size_t i = 1; i <= links; ++i) {
        const std::uint32_t to = number(at + i * kWord);
        if (to >= nodes || level_at(levels + to * kLevel) < one) return corrupt();
      }
      at += kWord * (1 + most);
    }
  }
  return at == size ? Status{} : corrupt();
}

std::size_t links_connectivity(const char* bytes, std::size_t size) {
  us::index_serialized_header_t header;
  if (size < sizeof(header)) return 0;
  std::memcpy(&header, bytes, sizeof(header));
  return header.connectivity;
}

}  // namespace errata
