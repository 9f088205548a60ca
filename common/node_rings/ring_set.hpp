// SPDX-License-Identifier: BSD-3-Clause
// The rings of all nodes of one run (docs/publish/mpi.md, "Reading the rings of all nodes"), found by a ranks file or
// by the ranks files of a folder. A ring is used only if its run table confirms the node's entries in the ranks file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ranks/ranks_file.hpp"

namespace ringside {

/// The help of the argument POOL of commands that read rings of several nodes.
inline constexpr const char* kPoolOrRings =
    "pool file, or a folder with the rings of several nodes, or the ranks file of these rings";

/// Whether the POOL of a command means rings of several nodes: a folder, or a name that ends with .ranks.
bool names_rings(const std::string& pool);

/// Combines the exit codes of several rings: kDamaged if any ring has this code, otherwise the first code that is not
/// kDone.
ExitCode code_with(ExitCode so_far, ExitCode next) noexcept;

/// A step of the whole run: an iteration that is in every ring, and its slot in each ring.
struct StepOfRings {
  std::uint64_t iteration = 0;
  std::vector<KeptSlot> slots;  // one slot for each node
};

struct NodeRing {
  std::string name;                  // for example "node 1 (ranks 2 to 3)"
  std::string path;                  // the path of the pool
  std::optional<RingReader> reader;  // empty if the ring cannot be used; `why` has the reason
  std::optional<Error> why;
  NodeLayout layout;

  /// The steps of that run in this ring, by iteration. Requires a reader.
  std::map<std::uint64_t, KeptSlot> kept(const Id128& run_id) const;
};

class RingSet {
 public:
  /// path: a folder, or a ranks file. `nodes` also contains the rings that cannot be used, with the reason. Throws
  /// Error if the set of rings cannot be determined: exit code 2 if there is no ranks file, if it is invalid, or if the
  /// files are of several runs.
  static RingSet open(const std::string& path);

  const std::string& path() const noexcept { return path_; }
  const RanksFile& ranks() const noexcept { return ranks_; }
  std::span<const NodeRing> nodes() const noexcept { return nodes_; }

  /// One line for each ring that cannot be used.
  std::vector<std::string> failures() const;
  /// The combined exit code of the rings that cannot be used; kDone if all rings can be used.
  ExitCode code() const noexcept;
  /// Throws Error, with the name of each ring that cannot be used, if there is any.
  void expect_all() const;

  /// The steps that are in all rings now, by ascending iteration. Requires that all rings can be used.
  std::vector<StepOfRings> steps() const;
  /// The iterations of each ring, for a message about a step that a ring lacks: "node 0 (rank 0) holds 3 to 10; ...".
  std::string what_each_holds() const;

 private:
  RingSet(std::string path, RanksFile ranks);

  void open_ring(std::size_t node, const std::vector<std::string>& candidates);
  RingReader confirmed(std::size_t node, const std::string& pool) const;

  std::string path_;
  RanksFile ranks_;
  std::vector<NodeRing> nodes_;
};

/// A text such as "33 to 40" or, with gaps, "1 to 3, 5, 7 to 9". If there are many groups, only the last ones.
std::string iterations_text(const std::vector<std::uint64_t>& iterations);

}  // namespace ringside
