// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/assembly.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ringside {
namespace {

// libhdf5 takes chunks of less than 4 GiB.
constexpr std::uint64_t kMostChunkBytes = (std::uint64_t{4} << 30) - 1;

/// The chunk as ranges of the variable's indices: one for each dimension, those that a slice has dropped, too.
std::vector<IndexRange> wanted_of(const Region& region, const ChunkPlace& place) {
  std::vector<IndexRange> wanted;
  std::size_t left = 0;  // dimension of the chunk
  for (const IndexRange& range : region.ranges) {
    if (range.dropped) {
      wanted.push_back(range);
      continue;
    }
    const std::uint64_t first = range.first + place.first[left] * range.step;
    wanted.push_back({.first = first, .count = place.count[left], .step = range.step});
    ++left;
  }
  return wanted;
}

}  // namespace

/// In one dimension: which of the wanted indices a box has.
struct Assembly::Overlap {
  std::uint64_t begin = 0;   // number of the first one, among the wanted
  std::uint64_t count = 0;
  std::uint64_t step = 1;    // in the box
  std::uint64_t inside = 0;  // where the first one lies in the box
  std::uint64_t extent = 0;  // of the box
  std::uint64_t wanted = 0;  // all that are wanted

  bool is_whole() const noexcept { return step == 1 && count == extent && count == wanted; }
};

Assembly::Assembly(const RanksFile& ranks) : ranks_(ranks), pieces_(ranks.variables.size()) {
  for (std::size_t v = 0; v < pieces_.size(); ++v) {
    const std::vector<std::uint64_t>& shape = ranks.variables[v].shape;
    for (std::size_t n = 0; n < ranks.nodes.size(); ++n) {
      std::uint64_t offset = 0;
      for (const RanksFile::Rank& rank : ranks.nodes[n].ranks) {
        Box box = rank.boxes[v];
        if (box.distribution == Distribution::kReplicated) {  // each node keeps all of it: the first one's is taken
          std::ranges::copy(shape, box.extent.begin());
          if (pieces_[v].empty()) pieces_[v].push_back({box, n, 0});
          continue;
        }
        const std::uint64_t entries = entries_of(std::span(box.extent).first(shape.size()), ranks.variables[v].name);
        if (entries > 0) pieces_[v].push_back({box, n, offset});
        offset += entries;
      }
    }
  }
}

/// False if the box has nothing that is wanted.
bool Assembly::overlap(const Piece& piece, std::span<const IndexRange> wanted, std::vector<Overlap>& found) {
  found.clear();
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    const auto [first, count, step, dropped] = wanted[d];
    const std::uint64_t begin = piece.box.offset[d];
    const std::uint64_t end = begin + piece.box.extent[d];
    // Rounded up without a sum: a step may be any 64-bit number.
    const std::uint64_t from = first >= begin ? 0 : (begin - first - 1) / step + 1;
    const std::uint64_t to = first >= end ? 0 : std::min(count, (end - first - 1) / step + 1);
    if (from >= to) return false;
    found.push_back({.begin = from,
                     .count = to - from,
                     .step = step,
                     .inside = first + from * step - begin,
                     .extent = piece.box.extent[d],
                     .wanted = count});
  }
  return true;
}

std::span<const std::byte> Assembly::part(std::size_t variable, const Region& region, const ChunkPlace& place,
                                          const BytesOf& bytes_of_node, std::vector<std::byte>& buffer) const {
  const std::size_t entry = bytes_of(ranks_.variables[variable].dtype);
  const std::vector<IndexRange> wanted = wanted_of(region, place);
  const std::size_t dims = wanted.size();
  std::vector<Overlap> overlaps;
  std::vector<std::uint64_t> index(dims);
  bool is_sized = false;
  for (const Piece& piece : pieces_[variable]) {
    if (!overlap(piece, wanted, overlaps)) continue;
    const std::byte* from = bytes_of_node(piece.node).data() + piece.offset * entry;
    // Neighbours in box and chunk: the last dimensions that both have whole, and the range in the one before.
    std::size_t outer = dims;
    std::uint64_t run = entry;
    while (outer > 0 && overlaps[outer - 1].is_whole()) run *= overlaps[--outer].count;
    const bool one_range = outer > 0 && overlaps[outer - 1].step == 1;
    if (one_range) run *= overlaps[--outer].count;
    const auto place_in_box = [&] {
      std::uint64_t at = 0;
      for (std::size_t d = 0; d < dims; ++d) {
        at = at * overlaps[d].extent + overlaps[d].inside + (d < outer ? index[d] * overlaps[d].step : 0);
      }
      return at * entry;
    };
    std::fill(index.begin(), index.end(), 0);
    if (run == place.bytes) return {from + place_in_box(), run};  // no other box has any of it
    if (!is_sized) buffer.resize(place.bytes);
    is_sized = true;
    for (bool more = true; more;) {
      std::uint64_t to = 0;
      for (std::size_t d = 0; d < dims; ++d) {
        to = to * overlaps[d].wanted + overlaps[d].begin + (d < outer ? index[d] : 0);
      }
      std::memcpy(buffer.data() + to * entry, from + place_in_box(), run);
      more = false;
      for (std::size_t d = outer; d-- > 0 && !more;) {
        more = ++index[d] < overlaps[d].count;
        if (!more) index[d] = 0;
      }
    }
  }
  return std::span(buffer).first(place.bytes);
}

std::vector<std::uint64_t> Assembly::chunk_of_ranks(std::size_t variable) const {
  const std::vector<std::uint64_t>& shape = ranks_.variables[variable].shape;
  const std::vector<Piece>& pieces = pieces_[variable];
  const std::size_t dims = shape.size();
  const auto begins = std::ranges::find_if(pieces, [dims](const Piece& piece) {
    return std::all_of(piece.box.offset.begin(), piece.box.offset.begin() + static_cast<std::ptrdiff_t>(dims),
                       [](std::uint64_t offset) { return offset == 0; });
  });
  if (pieces.size() < 2 || begins == pieces.end()) return {};
  const Box& first = begins->box;
  std::uint64_t bytes = bytes_of(ranks_.variables[variable].dtype);
  for (std::size_t d = 0; d < dims; ++d) {
    bytes *= first.extent[d];
    for (const Piece& piece : pieces) {
      const std::uint64_t offset = piece.box.offset[d];
      const std::uint64_t expected = std::min(first.extent[d], shape[d] - offset);
      if (offset % first.extent[d] != 0 || piece.box.extent[d] != expected) return {};
    }
  }
  if (bytes > kMostChunkBytes) return {};
  return {first.extent.begin(), first.extent.begin() + static_cast<std::ptrdiff_t>(dims)};
}

}  // namespace ringside
