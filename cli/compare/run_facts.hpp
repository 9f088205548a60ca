// SPDX-License-Identifier: BSD-3-Clause
// What a run was started with, by the same names whether a journal, a ring or a summary says it; and which of these
// facts differ between runs. A source that does not say something does not differ in it.
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

/// Something that a run is or was started with.
struct RunFact {
  std::string group;  // "problem", "options", "machine", "build"
  std::string name;   // a key of the summary, or one of the solver's parameters
  Json value;
};

/// version: of the analyzer; empty: not known.
std::vector<RunFact> facts_of(const wire::RunStarted& started, const std::string& version);
std::vector<RunFact> facts_of(const RunDescription& run, const Schema& schema);
std::vector<RunFact> facts_of(const Json& summary);

/// Null if it is not among them.
const Json* find_fact(std::span<const RunFact> facts, std::string_view name);

/// A fact that differs: its values in the order of the runs, null where a source does not say it.
struct DifferingFact {
  std::string group;
  std::string name;
  std::vector<Json> values;
};

struct FactComparison {
  std::vector<DifferingFact> differing;  // by group, in the order above
  std::size_t equal = 0;                 // that at least two runs say, and all that do say the same
  std::size_t single = 0;                // that one run alone says
};

FactComparison compare_facts(const std::vector<std::vector<RunFact>>& runs);

}  // namespace ringside
