// SPDX-License-Identifier: BSD-3-Clause
// The distribution of a variable over the ranks: boxes that cover it without overlaps, and their places in the part
// that a node keeps (docs/publish/mpi.md). This code does not use MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/schema/schema.hpp"
#include "common/schema/variable.hpp"

namespace ringside {

inline constexpr std::size_t kMostDims = 8;

enum class Distribution : std::uint32_t { kBoxes = 1, kReplicated = 2 };

/// A rank's part of a variable, in the fixed-size form that ranks exchange. Unused dimensions are 0.
struct Box {
  Distribution distribution = Distribution::kBoxes;
  std::uint32_t reserved = 0;
  std::array<std::uint64_t, kMostDims> offset{};
  std::array<std::uint64_t, kMostDims> extent{};

  bool operator==(const Box&) const = default;
};

/// The product of the extents; 1 if there are none. Throws Error (exit code 2), whose text begins with `where`, if the
/// product exceeds 64 bits.
std::uint64_t entries_of(std::span<const std::uint64_t> extents, const std::string& where);

/// Throws Error (exit code 2) if the box is not within the variable.
void check_within(const Variable& variable, const Box& box);

/// of_rank: one box for each rank, in rank order. Throws Error (exit code 2), whose text contains the ranks, if boxes
/// overlap, do not cover the variable, or only some of them are replicated.
void check_cover(const Variable& variable, std::span<const Box> of_rank);

/// Consecutive entries of a variable.
struct EntryRange {
  std::uint64_t first = 0;
  std::uint64_t entries = 0;
};

/// The entries of the boxes if these are consecutive whole rows; otherwise nothing.
std::optional<EntryRange> contiguous_entries(const Variable& global, std::span<const Box> boxes);

/// A node's part of a variable, and the place of one rank's part within it.
struct NodeVariable {
  Variable variable;               // the variable with the shape of the node's part
  std::uint64_t offset_bytes = 0;  // the place of the rank's part in the node's part
  std::uint64_t bytes = 0;         // the size of the rank's part
  bool is_kept = true;             // false: the variable is replicated, and the copy of the node's first rank is kept
  std::string region;              // the entries of the whole variable that the node keeps, in its order:
                                   // "rows 18 to 35", "8 boxes (7ef1b4c0a1d05f62)"
};

/// of_rank: the boxes of the node's ranks, in rank order; own: the index of this rank. Throws Error (exit code 2) if
/// the node has no entry of the variable.
NodeVariable node_variable(const Variable& global, std::span<const Box> of_rank, std::size_t own);

/// A node's parts of all variables, in their order.
struct NodeLayout {
  Schema schema;                        // the schema of the node's ring
  std::vector<NodeVariable> variables;
  std::string regions;                  // the regions of all variables, for the parameters of the node's run
};

/// boxes: first the boxes of all variables for the node's first rank, then those for the next rank, and so on. own: the
/// index of this rank. Throws Error (exit code 2).
NodeLayout node_layout(std::span<const Variable> global, std::span<const Box> boxes, std::size_t own);

/// The problem_id of a node's run: it is made from the problem_id of the whole run and from the node's entries, so that
/// a run resumes in a ring only with the same entries. The caller adds the variables (problem_id_with).
Id128 node_problem_id(const Id128& whole, const std::string& regions);

/// The boxes of one variable, selected from the boxes of all variables of several ranks.
std::vector<Box> boxes_of_variable(std::span<const Box> boxes, std::size_t variables, std::size_t variable);

}  // namespace ringside
