// SPDX-License-Identifier: BSD-3-Clause
// The file POOL.ranks beside the pool of a run of several MPI ranks: the entries that the ring of each node has, and
// the places of these rings. Any one such file is enough to read the rings of all nodes as one.
// docs/formats/files.md specifies its format; tests/unit/common/ranks has a golden file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/ranks/boxes.hpp"
#include "common/schema/variable.hpp"

namespace ringside {

/// The largest file that these functions write or read: about a million boxes.
inline constexpr std::size_t kMostRanksBytes = std::size_t{256} << 20;

/// The ending of the file's name.
inline constexpr std::string_view kRanksEnding = ".ranks";

struct RanksFile {
  struct Rank {
    std::uint32_t rank = 0;
    std::vector<Box> boxes;  // one for each variable
  };
  struct Node {
    std::string host;
    std::string pool;         // absolute on that node, or relative to the file's folder; empty: unknown
    std::vector<Rank> ranks;  // in the order of their boxes in the ring
  };

  /// The addresses of all nodes' analyzers (docs/publish/mpi.md, "Results of the whole run"). Ranks send them to the
  /// analyzer with the rest; the file does not have them.
  struct Round {
    struct Place {
      std::string address;     // HOST:PORT
      std::string public_key;  // CURVE's
    };
    Id128 attachment;  // random, drawn when the ranks attached
    std::vector<Place> places;  // of each node
  };

  Id128 run_id;
  Id128 problem_id;                 // of the whole run: node_problem_id makes that of a node
  std::vector<Variable> variables;  // with the shapes of the whole run
  std::vector<Node> nodes;
  std::uint32_t node = 0;           // the node whose pool this file lies beside
  std::optional<Round> round = {};

  std::size_t ranks() const noexcept;
  /// "2 to 3"; "2"
  std::string ranks_text(std::size_t node) const;
  /// "node 1 (ranks 2 to 3)"
  std::string name_of(std::size_t index) const;
  /// The boxes of a node's ranks, in the order for node_layout.
  std::vector<Box> boxes_of(std::size_t index) const;
  NodeLayout layout_of(std::size_t index) const { return node_layout(variables, boxes_of(index), 0); }
};

/// Throws Error (exit code 2) if the text would be too long.
std::string to_text(const RanksFile& file);

/// From the bytes of a peer or a file, which may be hostile. Throws Error (exit code 2), which begins with `where`, if
/// the text is invalid, or the boxes exceed the variables, overlap or leave entries out.
RanksFile parse_ranks(std::string_view text, const std::string& where);

/// The file's name. Follows a link to the pool.
std::string ranks_path(const std::string& pool);

/// Throws Error: exit code 2 if there is no such file, or it is not a ranks file; 3 if it cannot be read.
RanksFile read_ranks(const std::string& path);
/// The text of the file, unchecked. Throws as read_ranks does, but accepts any text.
std::string read_ranks_text(const std::string& path);

/// Compares files with one parsed file instead of parsing all: the files of a folder often differ only in their node.
/// There is a file for each node, and each describes all nodes.
class RanksOfOtherNodes {
 public:
  /// Throws as to_text does.
  explicit RanksOfOtherNodes(const RanksFile& file);
  /// The node of a file whose other bytes are equal; else nothing.
  std::optional<std::uint32_t> node_of(std::string_view text) const noexcept;

 private:
  std::string text_;       // of node 0
  std::size_t place_ = 0;  // of the node's number in the text
  std::uint32_t nodes_ = 0;
};

/// Writes the file beside `pool`, readable only by its owner. Throws Error (exit code 3); an older file may remain.
void write_ranks(const std::string& pool, const RanksFile& file);

/// Removes the file beside `pool`, if there is one. Throws Error (exit code 3).
void remove_ranks(const std::string& pool);

}  // namespace ringside
