// SPDX-License-Identifier: BSD-3-Clause
// The file POOL.ranks beside the pool of a run of several MPI ranks: which entries of the whole the ring of each node
// has, and where these rings were. Any one of them is enough to read the rings of all nodes as one.
// docs/formats/files.md is this file's format; tests/unit/common/ranks keeps a golden one.
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

/// The largest file that is written or read: about a million boxes.
inline constexpr std::size_t kMostRanksBytes = std::size_t{256} << 20;

/// What the file's name ends with.
inline constexpr std::string_view kRanksEnding = ".ranks";

struct RanksFile {
  struct Rank {
    std::uint32_t rank = 0;
    std::vector<Box> boxes;  // one of each variable
  };
  struct Node {
    std::string host;
    std::string pool;         // as the node's ranks know it, absolute; or relative to the file's folder; empty: unknown
    std::vector<Rank> ranks;  // in the order in which the ring has their boxes
  };

  /// Where the analyzers of the nodes reach each other (docs/publish/mpi.md, "Results of the whole run"). Ranks pass it
  /// to the analyzer with the rest; a file does not have it.
  struct Round {
    struct Place {
      std::string address;     // HOST:PORT
      std::string public_key;  // CURVE's
    };
    Id128 attachment;  // drawn when the ranks attached
    std::vector<Place> places;  // of each node
  };

  Id128 run_id;
  Id128 problem_id;                 // of the whole run: node_problem_id makes that of a node
  std::vector<Variable> variables;  // with the shapes of the whole run
  std::vector<Node> nodes;
  std::uint32_t node = 0;           // beside whose pool the file lies
  std::optional<Round> round = {};

  std::size_t ranks() const noexcept;
  /// "2 to 3"; "2"
  std::string ranks_text(std::size_t node) const;
  /// "node 1 (ranks 2 to 3)"
  std::string name_of(std::size_t index) const;
  /// The boxes of a node's ranks, as node_layout takes them.
  std::vector<Box> boxes_of(std::size_t index) const;
  NodeLayout layout_of(std::size_t index) const { return node_layout(variables, boxes_of(index), 0); }
};

/// Throws Error (exit code 2) if the text would be too long.
std::string to_text(const RanksFile& file);

/// From the bytes of a peer or a file, which may be hostile. Throws Error (exit code 2), which begins with `where`,
/// unless the boxes of all ranks lie within the variables, do not overlap and leave nothing out.
RanksFile parse_ranks(std::string_view text, const std::string& where);

/// Its name. A link to the pool is followed.
std::string ranks_path(const std::string& pool);

/// Throws Error: exit code 2 if there is no such file, or it is none of this kind; 3 if it cannot be read.
RanksFile read_ranks(const std::string& path);
/// The text of a file that may be none of this kind; throws as read_ranks does.
std::string read_ranks_text(const std::string& path);

/// The files of a folder often differ in their node only. Then one is parsed, and the others are compared with it: the
/// files are as many as the nodes, and each names all of these.
class RanksOfOtherNodes {
 public:
  /// Throws as to_text does.
  explicit RanksOfOtherNodes(const RanksFile& file);
  /// The node of a file that is the same otherwise, byte by byte; else nothing.
  std::optional<std::uint32_t> node_of(std::string_view text) const noexcept;

 private:
  std::string text_;       // of node 0
  std::size_t place_ = 0;  // of that 0
  std::uint32_t nodes_ = 0;
};

/// Writes it beside `pool`, readable by the owner alone. Throws Error (exit code 3); an older one is there then.
void write_ranks(const std::string& pool, const RanksFile& file);

/// Removes the one beside `pool`, if there is one. Throws Error (exit code 3).
void remove_ranks(const std::string& pool);

}  // namespace ringside
