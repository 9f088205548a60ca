// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/rings_info.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/terminal/format.hpp"
#include "common/json/json.hpp"
#include "common/program/schema_json.hpp"
#include "common/rings/ring_set.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::vector<std::uint64_t> iterations_of(const NodeRing& ring, const Id128& run_id) {
  std::vector<std::uint64_t> iterations;
  for (const auto& [iteration, slot] : ring.kept(run_id)) iterations.push_back(iteration);
  return iterations;
}

/// Nothing if a ring cannot be read: then it is not known.
std::optional<std::vector<std::uint64_t>> held_by_all(const RingSet& set) {
  if (set.code() != ExitCode::kDone) return std::nullopt;
  std::vector<std::uint64_t> iterations;
  for (const StepOfRings& step : set.steps()) iterations.push_back(step.iteration);
  return iterations;
}

Json describe(const RingSet& set) {
  const RanksFile& ranks = set.ranks();
  Json info = {{"rings", set.path()},    {"run_id", to_string(ranks.run_id)},
               {"ranks", ranks.ranks()}, {"variables", variables_to_json(ranks.variables)},
               {"iterations", Json()},   {"nodes", Json::array()}};
  if (const auto all = held_by_all(set)) info["iterations"] = *all;
  for (std::size_t n = 0; n < set.nodes().size(); ++n) {
    const NodeRing& ring = set.nodes()[n];
    Json its_ranks = Json::array();
    for (const RanksFile::Rank& rank : ranks.nodes[n].ranks) its_ranks.push_back(rank.rank);
    info["nodes"].push_back({{"node", n},
                             {"host", ranks.nodes[n].host},
                             {"pool", ring.path},
                             {"ranks", std::move(its_ranks)},
                             {"keeps", ring.layout.regions},
                             {"iterations", ring.reader ? Json(iterations_of(ring, ranks.run_id)) : Json()},
                             {"error", ring.why ? Json(ring.why->what()) : Json()}});
  }
  return info;
}

void print(const RingSet& set) {
  const RanksFile& ranks = set.ranks();
  fmt::print("rings     {}: {} of {}, run {}\n", printable(set.path()), counted(ranks.nodes.size(), "node"),
             counted(ranks.ranks(), "rank"), to_string(ranks.run_id));
  for (const Variable& variable : ranks.variables) fmt::print("variable  {}\n", printable(to_text(variable)));
  for (std::size_t n = 0; n < set.nodes().size(); ++n) {
    const NodeRing& ring = set.nodes()[n];
    const std::string host = ranks.nodes[n].host.empty() ? "" : " on " + ranks.nodes[n].host;
    if (ring.why) {
      fmt::print("{}{}: {}\n", ring.name, printable(host), printable(ring.why->what()));
      continue;
    }
    fmt::print("{}{}: {}, iterations {}\n          {}\n", ring.name, printable(host), printable(ring.path),
               iterations_text(iterations_of(ring, ranks.run_id)), printable(ring.layout.regions));
  }
  if (const auto all = held_by_all(set)) {
    fmt::print("all       hold {}\n", all->empty() ? "no iteration together" : "iterations " + iterations_text(*all));
  }
}

}  // namespace

int show_rings(const std::string& path, bool json) {
  const RingSet set = RingSet::open(path);
  if (json) {
    fmt::print("{}\n", describe(set).dump(2));
  } else {
    print(set);
  }
  return static_cast<int>(set.code());
}

}  // namespace ringside
