// SPDX-License-Identifier: BSD-3-Clause
// Assembles parts of a variable of the whole run from the boxes in the rings of several nodes (docs/publish/mpi.md).
// Assembling needs memory only for the requested part, and needs none if that part is contiguous in one box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/ranks/ranks_file.hpp"

namespace ringside {

/// The selected indices of a dimension: `count` indices from `first` on, at a distance of `step`.
struct IndexRange {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  std::uint64_t step = 1;
  bool dropped = false;  // whether this is a single index, whose dimension is omitted from the shape of the selection

  bool operator==(const IndexRange&) const = default;
};

class Assembly {
 public:
  /// `ranks` must outlive this object.
  explicit Assembly(const RanksFile& ranks);

  /// Returns the bytes of a variable in the ring of a node.
  using BytesOf = std::function<std::span<const std::byte>(std::size_t node)>;

  /// The entries with these indices, in row-major order. wanted: a range for each dimension. The result is a part of a
  /// node's bytes if the entries are contiguous there, otherwise it is in `buffer`. The bytes and the buffer must
  /// outlive the result.
  std::span<const std::byte> part(std::size_t variable, std::span<const IndexRange> wanted, const BytesOf& bytes_of_node,
                                  std::vector<std::byte>& buffer) const;

  /// Returns `bytes` bytes of a variable in the ring of a node, from byte `from` on. The bytes are valid until the next
  /// call.
  using FetchBytes = std::function<const std::byte*(std::size_t node, std::uint64_t from, std::uint64_t bytes)>;

  /// Copies the entries with these indices to `to`. Each box with wanted entries costs one fetch, from the first of
  /// these entries to the last.
  void copy(std::size_t variable, std::span<const IndexRange> wanted, const FetchBytes& fetch, std::byte* to) const;

  /// The shape of a chunk, if the variable is divided so that each chunk is the box of one rank. The result is empty if
  /// the boxes do not form such a grid, or if a chunk exceeds `most_bytes`.
  std::vector<std::uint64_t> chunk_of_ranks(std::size_t variable, std::uint64_t most_bytes) const;

 private:
  /// A box that is not empty, and the place of its entries.
  struct Piece {
    Box box;
    std::size_t node = 0;
    std::uint64_t offset = 0;  // the place of its first entry among the node's entries of the variable
  };

  struct Overlap;
  class Runs;

  const RanksFile& ranks_;
  std::vector<std::vector<Piece>> pieces_;  // one list for each variable
};

}  // namespace ringside
