// SPDX-License-Identifier: BSD-3-Clause
#include "common/ranks/boxes.hpp"

#include <algorithm>
#include <utility>

#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

std::string in_brackets(std::span<const std::uint64_t> numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) text += formatted("{}{}", text.empty() ? "" : ",", number);
  return formatted("[{}]", text);
}

std::span<const std::uint64_t> first(const std::array<std::uint64_t, kMostDims>& numbers, std::size_t dims) {
  return std::span(numbers).first(dims);
}

bool is_empty(const Box& box, std::size_t dims) {
  return std::ranges::any_of(first(box.extent, dims), [](std::uint64_t extent) { return extent == 0; });
}

/// Requires that both boxes are within the variable, so that no sum overflows.
bool overlap(const Box& a, const Box& b, std::size_t dims) {
  for (std::size_t d = 0; d < dims; ++d) {
    if (a.offset[d] >= b.offset[d] + b.extent[d] || b.offset[d] >= a.offset[d] + a.extent[d]) return false;
  }
  return true;
}

/// The dimension in which the boxes have the most distinct offsets; if several dimensions have as many, the first of
/// them.
std::size_t most_divided(std::span<const Box> of_rank, const std::vector<std::size_t>& ranks, std::size_t dims) {
  std::size_t best = 0;
  std::size_t most = 0;
  for (std::size_t d = 0; d < dims; ++d) {
    std::vector<std::uint64_t> offsets;
    for (const std::size_t r : ranks) offsets.push_back(of_rank[r].offset[d]);
    std::ranges::sort(offsets);
    const auto distinct = static_cast<std::size_t>(std::unique(offsets.begin(), offsets.end()) - offsets.begin());
    if (distinct > most) best = d;
    most = std::max(most, distinct);
  }
  return best;
}

std::string box_text(const Box& box, std::size_t dims) {
  return formatted("offset {} extent {}", in_brackets(first(box.offset, dims)), in_brackets(first(box.extent, dims)));
}

/// Whether each box has whole rows that follow the previous box's rows without a gap.
bool are_rows_in_order(const Variable& global, std::span<const Box> of_rank) {
  if (global.shape.empty()) return false;
  const std::size_t dims = global.shape.size();
  const Box* before = nullptr;
  for (const Box& box : of_rank) {
    if (is_empty(box, dims)) continue;
    for (std::size_t d = 1; d < dims; ++d) {
      if (box.extent[d] != global.shape[d]) return false;
    }
    if (before != nullptr && box.offset[0] != before->offset[0] + before->extent[0]) return false;
    before = &box;
  }
  return true;
}

}  // namespace

std::uint64_t entries_of(std::span<const std::uint64_t> extents, const std::string& where) {
  std::uint64_t entries = 1;
  for (const std::uint64_t extent : extents) {
    if (__builtin_mul_overflow(entries, extent, &entries)) {
      throw usage_error("{}: {} has more entries than a 64-bit number", where, in_brackets(extents));
    }
  }
  return entries;
}

void check_within(const Variable& variable, const Box& box) {
  const std::size_t dims = variable.shape.size();
  if (entries_of(variable.shape, formatted("variable '{}'", variable.name)) == 0) {
    throw usage_error("variable '{}': found shape {}; expected at least 1 in each dimension", variable.name,
                      in_brackets(variable.shape));
  }
  if (box.distribution == Distribution::kReplicated) return;
  if (dims == 0) {
    throw usage_error("variable '{}': it has no dimension that could be distributed; expected RINGSIDE_MPI_REPLICATED",
                      variable.name);
  }
  for (std::size_t d = 0; d < dims; ++d) {
    if (box.offset[d] <= variable.shape[d] && box.extent[d] <= variable.shape[d] - box.offset[d]) continue;
    throw usage_error("variable '{}': found a box of {}; expected one within {}", variable.name, box_text(box, dims),
                      in_brackets(variable.shape));
  }
}

void check_cover(const Variable& variable, std::span<const Box> of_rank) {
  for (std::size_t r = 1; r < of_rank.size(); ++r) {
    if (of_rank[r].distribution == of_rank[0].distribution) continue;
    const bool here = of_rank[r].distribution == Distribution::kReplicated;
    throw usage_error("variable '{}': it is {} on rank {} and {} on rank 0; expected the same on all ranks",
                      variable.name, here ? "replicated" : "distributed", r, here ? "distributed" : "replicated");
  }
  if (of_rank[0].distribution == Distribution::kReplicated) return;
  const std::size_t dims = variable.shape.size();
  std::vector<std::size_t> by_begin;
  std::uint64_t covered = 0;  // this sum overflows only if boxes overlap, which is refused below
  for (std::size_t r = 0; r < of_rank.size(); ++r) {
    if (is_empty(of_rank[r], dims)) continue;
    by_begin.push_back(r);
    covered += entries_of(first(of_rank[r].extent, dims), variable.name);
  }
  const auto sort_along = [&](std::size_t d) {
    std::ranges::sort(by_begin, {}, [&](std::size_t r) { return of_rank[r].offset[d]; });
  };
  // Sweeps along one dimension, because only boxes that share an index of this dimension can overlap.
  const std::size_t along = most_divided(of_rank, by_begin, dims);
  sort_along(along);
  std::vector<std::size_t> open;
  for (const std::size_t r : by_begin) {
    const Box& box = of_rank[r];
    std::erase_if(open, [&](std::size_t o) {
      return of_rank[o].offset[along] + of_rank[o].extent[along] <= box.offset[along];
    });
    for (const std::size_t o : open) {
      if (!overlap(of_rank[o], box, dims)) continue;
      const auto [one, other] = std::minmax(o, r);
      throw usage_error("variable '{}': the boxes of ranks {} ({}) and {} ({}) overlap", variable.name, one,
                        box_text(of_rank[one], dims), other, box_text(of_rank[other], dims));
    }
    open.push_back(r);
  }
  const std::uint64_t entries = entries_of(variable.shape, variable.name);
  if (covered == entries) return;
  sort_along(0);
  std::uint64_t end = 0;  // the first row that no box has
  for (const std::size_t r : by_begin) {
    if (of_rank[r].offset[0] > end) break;
    end = std::max(end, of_rank[r].offset[0] + of_rank[r].extent[0]);
  }
  const std::string gap = end < variable.shape[0] ? formatted("; no rank has row {}", end) : std::string();
  throw usage_error("variable '{}': the boxes of all ranks cover {} of its {} entries{}", variable.name, covered,
                    entries, gap);
}

std::optional<EntryRange> contiguous_entries(const Variable& global, std::span<const Box> boxes) {
  const std::size_t dims = global.shape.size();
  if (boxes.front().distribution == Distribution::kReplicated || !are_rows_in_order(global, boxes)) return std::nullopt;
  const std::uint64_t of_row = entries_of(global.shape, global.name) / global.shape[0];
  std::optional<EntryRange> range;
  for (const Box& box : boxes) {
    if (is_empty(box, dims)) continue;
    if (!range) range = {box.offset[0] * of_row, 0};
    range->entries += box.extent[0] * of_row;
  }
  return range;
}

NodeVariable node_variable(const Variable& global, std::span<const Box> of_rank, std::size_t own) {
  NodeVariable made{.variable = global, .region = "replicated"};
  const std::size_t dims = global.shape.size();
  const std::uint64_t entry = bytes_of(global.dtype);
  if (of_rank[own].distribution == Distribution::kReplicated) {
    made.bytes = entries_of(global.shape, global.name) * entry;
    made.is_kept = own == 0;
    return made;
  }
  std::uint64_t entries = 0;
  made.region.clear();
  std::size_t boxes = 0;
  for (std::size_t r = 0; r < of_rank.size(); ++r) {
    const std::uint64_t part = entries_of(first(of_rank[r].extent, dims), global.name);
    if (r == own) {
      made.offset_bytes = entries * entry;
      made.bytes = part * entry;
    }
    entries += part;
    if (part > 0) made.region += formatted("{}{}", boxes++ > 0 ? "; " : "", box_text(of_rank[r], dims));
  }
  if (entries == 0) {
    throw usage_error("no rank of this node has an entry of variable '{}'; expected at least one, or fewer nodes",
                      global.name);
  }
  if (are_rows_in_order(global, of_rank)) {
    const std::uint64_t rows = entries / (entries_of(global.shape, global.name) / global.shape[0]);
    const auto begin = std::ranges::find_if(of_rank, [&](const Box& box) { return !is_empty(box, dims); });
    made.variable.shape[0] = rows;
    made.region = formatted("rows {} to {}", begin->offset[0], begin->offset[0] + rows - 1);
  } else {
    made.variable.shape = {entries};
    constexpr std::size_t kMostShown = 2;
    if (boxes > kMostShown) {
      const Id128 hash = hash128(made.region.data(), made.region.size());
      made.region = formatted("{} boxes ({})", boxes, to_string(hash).substr(0, 16));
    }
  }
  return made;
}

std::vector<Box> boxes_of_variable(std::span<const Box> boxes, std::size_t variables, std::size_t variable) {
  std::vector<Box> picked;
  for (std::size_t at = variable; at < boxes.size(); at += variables) picked.push_back(boxes[at]);
  return picked;
}

NodeLayout node_layout(std::span<const Variable> global, std::span<const Box> boxes, std::size_t own) {
  std::vector<NodeVariable> kept;
  std::vector<Variable> variables;
  std::string regions;
  for (std::size_t v = 0; v < global.size(); ++v) {
    kept.push_back(node_variable(global[v], boxes_of_variable(boxes, global.size(), v), own));
    variables.push_back(kept.back().variable);
    regions += formatted("{}{}: {}", v > 0 ? "; " : "", to_text(global[v]), kept.back().region);
  }
  return {Schema::of(std::move(variables)), std::move(kept), std::move(regions)};
}

Id128 node_problem_id(const Id128& whole, const std::string& regions) {
  const std::string problem = to_string(whole) + regions;
  return hash128(problem.data(), problem.size());
}

}  // namespace ringside
