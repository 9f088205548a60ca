// SPDX-License-Identifier: BSD-3-Clause
// Puts parts of a variable of the whole run together from the boxes that the rings of several nodes keep
// (docs/publish/mpi.md). It needs memory for the part that is asked for, and none if a box has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/ranks/ranks_file.hpp"

namespace ringside {

/// What one dimension has left: `count` indices, from `first`, `step` apart.
struct IndexRange {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  std::uint64_t step = 1;
  bool dropped = false;  // a single index: the dimension is not in the shape that is left

  bool operator==(const IndexRange&) const = default;
};

class Assembly {
 public:
  /// ranks: outlives this object.
  explicit Assembly(const RanksFile& ranks);

  /// The bytes of a variable in the ring of a node.
  using BytesOf = std::function<std::span<const std::byte>(std::size_t node)>;

  /// The entries of these indices, a range for each dimension of the variable, in row-major order. In the bytes of a node,
  /// if they lie together there; else in `buffer`. Both must outlive the result.
  std::span<const std::byte> part(std::size_t variable, std::span<const IndexRange> wanted, const BytesOf& bytes_of_node,
                                  std::vector<std::byte>& buffer) const;

  /// Bytes of a variable in the ring of a node: `bytes` of them, from `from` on. Valid until the next call.
  using FetchBytes = std::function<const std::byte*(std::size_t node, std::uint64_t from, std::uint64_t bytes)>;

  /// The same, copied to `to`. Of each box that has some of the entries, the bytes from the first to the last of them are
  /// fetched at once.
  void copy(std::size_t variable, std::span<const IndexRange> wanted, const FetchBytes& fetch, std::byte* to) const;

  /// The shape of chunks of which each is the box of one rank; empty if the boxes are not like that, or such a chunk has
  /// more than `most_bytes`.
  std::vector<std::uint64_t> chunk_of_ranks(std::size_t variable, std::uint64_t most_bytes) const;

 private:
  /// A box that is not empty, and where it lies.
  struct Piece {
    Box box;
    std::size_t node = 0;
    std::uint64_t offset = 0;  // of its first entry, in the node's entries of the variable
  };

  struct Overlap;
  class Runs;

  const RanksFile& ranks_;
  std::vector<std::vector<Piece>> pieces_;  // of each variable
};

}  // namespace ringside
