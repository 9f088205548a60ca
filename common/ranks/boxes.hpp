// SPDX-License-Identifier: BSD-3-Clause
// How a variable is spread over the ranks: boxes that do not overlap and leave nothing out, and where they lie in what
// a node keeps (docs/publish/mpi.md). No MPI here.
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

/// A rank's part of a variable, as ranks tell each other: fixed size. Dimensions that the variable lacks are 0.
struct Box {
  Distribution distribution = Distribution::kBoxes;
  std::uint32_t reserved = 0;
  std::array<std::uint64_t, kMostDims> offset{};
  std::array<std::uint64_t, kMostDims> extent{};

  bool operator==(const Box&) const = default;
};

/// The product of the extents; 1 if there are none. Throws Error (exit code 2), which begins with
/// `where`, if it is no 64-bit number.
std::uint64_t entries_of(std::span<const std::uint64_t> extents, const std::string& where);

/// Throws Error (exit code 2) if the box does not lie within the variable.
void check_within(const Variable& variable, const Box& box);

/// One box of each rank, in their order. Throws Error (exit code 2), which names the ranks, if boxes overlap, do not
/// cover the variable, or are not all replicated or none.
void check_cover(const Variable& variable, std::span<const Box> of_rank);

/// Entries of a variable, in the order of its entries.
struct EntryRange {
  std::uint64_t first = 0;
  std::uint64_t entries = 0;
};

/// The entries of boxes, if these are whole rows that follow each other; else nothing.
std::optional<EntryRange> contiguous_entries(const Variable& global, std::span<const Box> boxes);

/// What a node keeps of a variable, and where one rank's part lies in that.
struct NodeVariable {
  Variable variable;               // its shape is the node's
  std::uint64_t offset_bytes = 0;  // of the rank's part
  std::uint64_t bytes = 0;         // of the rank's part
  bool is_kept = true;             // false: the variable is replicated, and kept from the node's first rank
  std::string region;              // which entries of the whole variable the node keeps, and in which order:
                                   // "rows 18 to 35", "8 boxes (7ef1b4c0a1d05f62)"
};

/// of_rank: the boxes of the node's ranks, in their order; own: which of them. Throws Error (exit code 2) if the node
/// has no entry of the variable.
NodeVariable node_variable(const Variable& global, std::span<const Box> of_rank, std::size_t own);

/// What a node keeps of all variables, in their order.
struct NodeLayout {
  Schema schema;                        // of the node's ring
  std::vector<NodeVariable> variables;
  std::string regions;                  // of all variables; a part of the parameters of the node's run
};

/// boxes: of the node's ranks, in their order, and of each rank those of all variables. own: which of the ranks. Throws
/// Error (exit code 2).
NodeLayout node_layout(std::span<const Variable> global, std::span<const Box> boxes, std::size_t own);

/// The problem of a node's run: that of the whole run and which entries the node keeps, so that a ring is resumed with
/// these only. Its variables are not in it yet (problem_id_with).
Id128 node_problem_id(const Id128& whole, const std::string& regions);

/// Of the boxes of several ranks, those of one variable.
std::vector<Box> boxes_of_variable(std::span<const Box> boxes, std::size_t variables, std::size_t variable);

}  // namespace ringside
