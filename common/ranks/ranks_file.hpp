// SPDX-License-Identifier: BSD-3-Clause
// The file POOL.ranks beside the pool of a run of several MPI ranks: the entries in the ring of each node, and the
// paths of these rings. Any one such file is enough to read the rings of all nodes as one. docs/formats/files.md
// specifies its format; tests/unit/common/ranks has a golden file.
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
    std::string pool;         // the absolute path on that node, or a path relative to the file's folder; empty: unknown
    std::vector<Rank> ranks;  // the node's ranks, in the order of their boxes in the ring
  };

  /// The addresses of all nodes' analyzers (docs/publish/mpi.md, "Results of the whole run"). Ranks send these
  /// addresses to the analyzer together with the content of the file; the file itself does not contain them.
  struct Round {
    struct Place {
      std::string address;     // HOST:PORT
      std::string public_key;  // a CURVE key
    };
    Id128 attachment;  // a random id, chosen when the ranks attached
    std::vector<Place> places;  // one place for each node
  };

  Id128 run_id;
  Id128 problem_id;                 // of the whole run; node_problem_id derives a node's problem_id from it
  std::vector<Variable> variables;  // the variables with the shapes of the whole run
  std::vector<Node> nodes;
  std::uint32_t node = 0;           // the node to whose pool this file belongs
  std::optional<Round> round = {};

  std::size_t ranks() const noexcept;
  /// The ranks of a node: "2 to 3" or "2".
  std::string ranks_text(std::size_t node) const;
  /// The name of a node for messages: "node 1 (ranks 2 to 3)".
  std::string name_of(std::size_t index) const;
  /// The boxes of a node's ranks, in the order that node_layout requires.
  std::vector<Box> boxes_of(std::size_t index) const;
  NodeLayout layout_of(std::size_t index) const { return node_layout(variables, boxes_of(index), 0); }
};

/// The text of the file. Throws Error (exit code 2) if the text would be too long.
std::string to_text(const RanksFile& file);

/// Parses bytes from a peer or a file, which may be hostile. Throws Error (exit code 2), whose text begins with
/// `where`, if the bytes are invalid, or if the boxes exceed the variables, overlap or leave entries out.
RanksFile parse_ranks(std::string_view text, const std::string& where);

/// The path of the ranks file beside a pool. If `pool` is a link, it is resolved first.
std::string ranks_path(const std::string& pool);

/// Reads a ranks file. Throws Error: exit code 2 if there is no such file, or it is not a ranks file; 3 if it cannot be
/// read.
RanksFile read_ranks(const std::string& path);
/// The text of the file, unchecked. Throws the errors of read_ranks, except those about the text itself.
std::string read_ranks_text(const std::string& path);

/// Compares the texts of other files with one parsed file, so that these texts need not be parsed. Each node has a file
/// that describes all nodes, and the files of a folder often differ only in the node's number.
class RanksOfOtherNodes {
 public:
  /// Throws the errors of to_text.
  explicit RanksOfOtherNodes(const RanksFile& file);
  /// The node's number in a text that differs from the parsed file only in this number; otherwise nothing.
  std::optional<std::uint32_t> node_of(std::string_view text) const noexcept;

 private:
  std::string text_;       // the text of the file for node 0
  std::size_t place_ = 0;  // the place of the node's number in the text
  std::uint32_t nodes_ = 0;
};

/// Writes the file beside `pool`, readable only by its owner. Throws Error (exit code 3); in that case, an older file
/// may remain.
void write_ranks(const std::string& pool, const RanksFile& file);

/// Removes the file beside `pool`, if it exists. Throws Error (exit code 3).
void remove_ranks(const std::string& pool);

}  // namespace ringside
