// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run/round_plan.hpp"

#include <span>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

/// The place of each node's entries of a variable, if the entries of each node directly follow those of the previous
/// node; else empty.
std::optional<std::vector<PartPlace>> places_of(const RanksFile& ranks, std::size_t variable) {
  std::vector<PartPlace> places;
  std::uint64_t next = 0;
  for (std::size_t node = 0; node < ranks.nodes.size(); ++node) {
    const std::vector<Box> boxes = boxes_of_variable(ranks.boxes_of(node), ranks.variables.size(), variable);
    const std::optional<EntryRange> range = contiguous_entries(ranks.variables[variable], boxes);
    if (!range || range->first != next) return std::nullopt;
    places.push_back({range->first});
    next += range->entries;
  }
  return places;
}

/// The place of this node's entries of a variable that is kept in boxes. The entries of all nodes are numbered
/// consecutively.
PartPlace place_of_boxes(const RanksFile& ranks, std::size_t variable) {
  PartPlace place{.first = 0, .in_boxes = true};
  const std::size_t dims = ranks.variables[variable].shape.size();
  for (std::size_t node = 0; node < ranks.node; ++node) {
    for (const Box& box : boxes_of_variable(ranks.boxes_of(node), ranks.variables.size(), variable)) {
      place.first += entries_of(std::span(box.extent).first(dims), ranks.variables[variable].name);
    }
  }
  return place;
}

bool is_replicated(const RanksFile& ranks, std::size_t variable) {
  return ranks.nodes.front().ranks.front().boxes[variable].distribution == Distribution::kReplicated;
}

}  // namespace

std::string RoundPlan::own_parameters(const std::string& with_regions) const {
  if (!with_regions.ends_with(regions)) return with_regions;  // the text was shortened, because it was too long
  std::string own = with_regions.substr(0, with_regions.size() - regions.size());
  if (own.ends_with("; ")) own.resize(own.size() - 2);
  return own;
}

std::optional<RoundPlan> round_plan(const RanksFile& ranks) {
  const auto nodes = static_cast<std::uint32_t>(ranks.nodes.size());
  if (nodes < 2 || !ranks.round) return std::nullopt;
  const std::vector<RanksFile::Round::Place>& places = ranks.round->places;
  const RanksFile::Round::Place& next = places[(ranks.node + 1) % nodes];
  RoundPlan plan{.attachment = ranks.round->attachment,
                 .problem_id = ranks.problem_id,
                 .node = ranks.node,
                 .nodes = nodes,
                 .next_address = next.address,
                 .next_key = next.public_key,
                 .previous_key = places[(ranks.node + nodes - 1) % nodes].public_key,
                 .ranks = formatted("0 to {}", ranks.ranks() - 1),
                 .regions = ranks.layout_of(ranks.node).regions,
                 .whole = Schema::of_whole(ranks.variables),
                 .places = {},
                 .has_results = {},
                 .in_boxes = {}};
  for (std::size_t v = 0; v < ranks.variables.size(); ++v) {
    std::optional<PartPlace> own;
    const bool has_results = ranks.variables[v].role == Role::kField;
    bool in_boxes = false;
    if (is_replicated(ranks, v)) {  // every node has the whole variable, so the first node sends it
      if (plan.node == 0) own = PartPlace{0};
    } else if (const auto parts = places_of(ranks, v)) {
      own = (*parts)[plan.node];
    } else {
      own = place_of_boxes(ranks, v);
      in_boxes = has_results;
    }
    plan.places.push_back(has_results ? own : std::nullopt);
    plan.has_results.push_back(has_results);
    plan.in_boxes.push_back(in_boxes);
  }
  return plan;
}

}  // namespace ringside
