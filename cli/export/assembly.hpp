// SPDX-License-Identifier: BSD-3-Clause
// Puts parts of a variable of the whole run together from the boxes that the rings of several nodes keep (docs/mpi.md). It
// needs memory for the part that is asked for, and none if a box has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cli/export/chunks.hpp"
#include "cli/export/slice.hpp"
#include "common/ranks/ranks_file.hpp"

namespace ringside {

class Assembly {
 public:
  /// ranks: outlives this object.
  explicit Assembly(const RanksFile& ranks);

  /// The bytes of a variable in the ring of a node.
  using BytesOf = std::function<std::span<const std::byte>(std::size_t node)>;

  /// The entries of `place`, a chunk of what `region` leaves of the variable, in row-major order. In the bytes of a node, if
  /// they lie together there; else in `buffer`. Both must outlive the result.
  std::span<const std::byte> part(std::size_t variable, const Region& region, const ChunkPlace& place,
                                  const BytesOf& bytes_of_node, std::vector<std::byte>& buffer) const;

  /// The shape of chunks of which each is the box of one rank; empty if the boxes are not like that, or a chunk would be too
  /// large for a file format.
  std::vector<std::uint64_t> chunk_of_ranks(std::size_t variable) const;

 private:
  /// A box that is not empty, and where it lies.
  struct Piece {
    Box box;
    std::size_t node = 0;
    std::uint64_t offset = 0;  // of its first entry, in the node's entries of the variable
  };

  struct Overlap;
  static bool overlap(const Piece& piece, std::span<const IndexRange> wanted, std::vector<Overlap>& found);

  const RanksFile& ranks_;
  std::vector<std::vector<Piece>> pieces_;  // of each variable
};

}  // namespace ringside
