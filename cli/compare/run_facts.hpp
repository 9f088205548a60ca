// SPDX-License-Identifier: BSD-3-Clause
// The facts about how a run was started, and which facts differ between runs. A fact has the same name whether it is
// from a journal, a ring or a summary. A fact that a source lacks does not count as different.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/handoff/run_description.hpp"
#include "common/json/json.hpp"
#include "common/schema/schema.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// A fact about how a run was started.
struct RunFact {
  std::string group;  // "problem", "options", "machine", "build"
  std::string name;   // a key of the summary, or one of the solver's parameters
  Json value;
};

/// version: the version of the analyzer; empty: unknown.
std::vector<RunFact> facts_of(const wire::RunStarted& started, const std::string& version);
std::vector<RunFact> facts_of(const RunDescription& run, const Schema& schema);
std::vector<RunFact> facts_of(const Json& summary);

/// The value of the fact with this name; null if no such fact exists.
const Json* find_fact(std::span<const RunFact> facts, std::string_view name);

/// A fact that differs: its values in the order of the runs; null if a run's source lacks it.
struct DifferingFact {
  std::string group;
  std::string name;
  std::vector<Json> values;
};

struct FactComparison {
  std::vector<DifferingFact> differing;  // by group, in the order of RunFact::group
  std::size_t equal = 0;                 // facts of at least two runs, with one value in all of them
  std::size_t single = 0;                // facts of only one run
};

FactComparison compare_facts(const std::vector<std::vector<RunFact>>& runs);

}  // namespace ringside
