// SPDX-License-Identifier: BSD-3-Clause
#include "common/node_rings/assembly.hpp"

#include <algorithm>
#include <cstring>

namespace ringside {

/// The wanted indices of one dimension that are in a box.
struct Assembly::Overlap {
  std::uint64_t begin = 0;   // the position of the first of them among all wanted indices
  std::uint64_t count = 0;
  std::uint64_t step = 1;    // the distance of these indices in the box
  std::uint64_t inside = 0;  // the position of the first of these in the box
  std::uint64_t extent = 0;  // the extent of the box
  std::uint64_t wanted = 0;  // the number of all wanted indices

  bool is_whole() const noexcept { return step == 1 && count == extent && count == wanted; }
};

Assembly::Assembly(const RanksFile& ranks) : ranks_(ranks), pieces_(ranks.variables.size()) {
  for (std::size_t v = 0; v < pieces_.size(); ++v) {
    const std::vector<std::uint64_t>& shape = ranks.variables[v].shape;
    for (std::size_t n = 0; n < ranks.nodes.size(); ++n) {
      std::uint64_t offset = 0;
      for (const RanksFile::Rank& rank : ranks.nodes[n].ranks) {
        Box box = rank.boxes[v];
        if (box.distribution == Distribution::kReplicated) {  // each node has all entries: use the first node's
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

/// The wanted entries of a box, as runs that are contiguous both in the box and among the wanted entries. A run covers
/// the last dimensions that are complete in both, and a range in the dimension before these.
class Assembly::Runs {
 public:
  /// Returns false if the box has no wanted entry.
  bool find(const Piece& piece, std::span<const IndexRange> wanted, std::uint64_t entry_bytes) {
    overlaps_.clear();
    for (std::size_t d = 0; d < wanted.size(); ++d) {
      const auto [first, count, step, dropped] = wanted[d];
      const std::uint64_t begin = piece.box.offset[d];
      const std::uint64_t end = begin + piece.box.extent[d];
      // The division rounds up without adding first, because a step may be any 64-bit number.
      const std::uint64_t from = first >= begin ? 0 : (begin - first - 1) / step + 1;
      const std::uint64_t to = first >= end ? 0 : std::min(count, (end - first - 1) / step + 1);
      if (from >= to) return false;
      overlaps_.push_back({.begin = from,
                           .count = to - from,
                           .step = step,
                           .inside = first + from * step - begin,
                           .extent = piece.box.extent[d],
                           .wanted = count});
    }
    entry_bytes_ = entry_bytes;
    run_bytes_ = entry_bytes;
    outer_ = overlaps_.size();
    while (outer_ > 0 && overlaps_[outer_ - 1].is_whole()) run_bytes_ *= overlaps_[--outer_].count;
    if (outer_ > 0 && overlaps_[outer_ - 1].step == 1) run_bytes_ *= overlaps_[--outer_].count;
    index_.assign(overlaps_.size(), 0);
    return true;
  }

  std::uint64_t run_bytes() const noexcept { return run_bytes_; }

  /// Bytes from the first entry of the box to the run.
  std::uint64_t offset_in_box() const noexcept {
    return offset_in_box([this](std::size_t d) { return index_[d]; });
  }

  /// Bytes from the first entry of the box to the end of the last run.
  std::uint64_t end_in_box() const noexcept {
    return offset_in_box([this](std::size_t d) { return overlaps_[d].count - 1; }) + run_bytes_;
  }

  /// Bytes from the first wanted entry to the run.
  std::uint64_t offset_in_wanted() const noexcept {
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < overlaps_.size(); ++d) {
      const Overlap& overlap = overlaps_[d];
      at = at * overlap.wanted + overlap.begin + (d < outer_ ? index_[d] : 0);
    }
    return at * entry_bytes_;
  }

  /// Advances to the next run. Returns false after the last one.
  bool next() noexcept {
    for (std::size_t d = outer_; d-- > 0;) {
      if (++index_[d] < overlaps_[d].count) return true;
      index_[d] = 0;
    }
    return false;
  }

 private:
  template <class IndexOf>
  std::uint64_t offset_in_box(const IndexOf& index_of) const noexcept {
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < overlaps_.size(); ++d) {
      const Overlap& overlap = overlaps_[d];
      at = at * overlap.extent + overlap.inside + (d < outer_ ? index_of(d) * overlap.step : 0);
    }
    return at * entry_bytes_;
  }

  std::vector<Overlap> overlaps_;
  std::vector<std::uint64_t> index_;
  std::size_t outer_ = 0;  // next() iterates over the dimensions with a smaller index
  std::uint64_t run_bytes_ = 0;
  std::uint64_t entry_bytes_ = 0;
};

std::span<const std::byte> Assembly::part(std::size_t variable, std::span<const IndexRange> wanted,
                                          const BytesOf& bytes_of_node, std::vector<std::byte>& buffer) const {
  const std::size_t entry = bytes_of(ranks_.variables[variable].dtype);
  std::uint64_t bytes = entry;
  for (const IndexRange& range : wanted) bytes *= range.count;
  Runs runs;
  for (const Piece& piece : pieces_[variable]) {
    if (!runs.find(piece, wanted, entry)) continue;
    if (runs.run_bytes() != bytes) break;
    // All wanted entries are in this box.
    return {bytes_of_node(piece.node).data() + piece.offset * entry + runs.offset_in_box(), bytes};
  }
  buffer.resize(bytes);
  const auto in_place = [&](std::size_t node, std::uint64_t from, std::uint64_t) { return bytes_of_node(node).data() + from; };
  copy(variable, wanted, in_place, buffer.data());
  return buffer;
}

void Assembly::copy(std::size_t variable, std::span<const IndexRange> wanted, const FetchBytes& fetch, std::byte* to) const {
  const std::size_t entry = bytes_of(ranks_.variables[variable].dtype);
  Runs runs;
  for (const Piece& piece : pieces_[variable]) {
    if (!runs.find(piece, wanted, entry)) continue;
    const std::uint64_t first = runs.offset_in_box();
    const std::byte* from = fetch(piece.node, piece.offset * entry + first, runs.end_in_box() - first);
    do {
      std::memcpy(to + runs.offset_in_wanted(), from + (runs.offset_in_box() - first), runs.run_bytes());
    } while (runs.next());
  }
}

std::vector<std::uint64_t> Assembly::chunk_of_ranks(std::size_t variable, std::uint64_t most_bytes) const {
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
  if (bytes > most_bytes) return {};
  return {first.extent.begin(), first.extent.begin() + static_cast<std::ptrdiff_t>(dims)};
}

}  // namespace ringside
