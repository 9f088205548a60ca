// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/run_facts.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "cli/run_history/history_json.hpp"
#include "common/records/record_message.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 4> kGroups = {"problem", "options", "machine", "build"};

/// Collects the facts of one run. A fact that is empty in its source is left out.
class Facts {
 public:
  void add(std::string_view group, const std::string& name, Json value) {
    const bool is_empty = value.is_null() || (value.is_string() && value.text().empty());
    if (!is_empty) facts_.push_back({std::string(group), name, std::move(value)});
  }

  /// Adds a text of the form "damping=0.85 every=1" as one fact per parameter (here two), and any other text as one
  /// fact.
  void add_parameters(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> pairs;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0) return add("problem", "parameters", text);
      pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    for (const auto& [name, value] : pairs) add("problem", name, value);
  }

  std::vector<RunFact> take() { return std::move(facts_); }

 private:
  std::vector<RunFact> facts_;
};

/// The variables in the summary's "schema", in the form of to_text(const Variable&): "p f64[4000000] state".
std::string variables_text(const Json& schema) {
  std::string text;
  const auto word = [](const Json& variable, const char* key) {
    return variable[key].is_string() ? variable[key].get<std::string>() : std::string();
  };
  for (const Json& variable : schema) {
    if (!variable.is_object()) return {};
    const std::string shape = variable.contains("shape") ? variable.at("shape").dump() : "[]";
    const std::string unit = word(variable, "unit");
    text += (text.empty() ? "" : ", ") + word(variable, "name") + " " + word(variable, "dtype") +
            (shape == "[]" ? "" : shape) + (unit.empty() ? "" : " " + unit) +
            (word(variable, "role") == "state" ? " state" : "");
  }
  return text;
}

}  // namespace

std::vector<RunFact> facts_of(const wire::RunStarted& started, const std::string& version) {
  Facts facts;
  facts.add("problem", "problem_id", hex(started.problem_id()));
  facts.add("problem", "solver", started.solver());
  facts.add("problem", "matrix", started.matrix());
  facts.add_parameters(started.parameters());
  if (const SharedLayout layout = layout_of(started)) facts.add("problem", "schema", to_text(layout->schema()));
  facts.add("problem", "rows", started.rows());
  facts.add("problem", "nonzeros", started.nonzeros());
  facts.add("options", "coordination", started.coordination());
  facts.add("options", "buffers", started.buffers());
  facts.add("options", "slots", started.slots());
  facts.add("options", "durability", started.durability());
  facts.add("options", "reduce", started.reduce());
  facts.add("options", "passes", started.passes());
  facts.add("options", "resumed_from", started.from_iteration());
  facts.add("machine", "storage", started.storage());
  facts.add("build", "version", version);
  return facts.take();
}

std::vector<RunFact> facts_of(const RunDescription& run, const Schema& schema) {
  Facts facts;
  facts.add("problem", "problem_id", to_string(run.problem_id));
  facts.add("problem", "solver", text_of(run.solver));
  facts.add("problem", "matrix", text_of(run.matrix));
  facts.add_parameters(std::string(text_of(run.parameters)));
  facts.add("problem", "schema", to_text(schema));
  facts.add("problem", "rows", run.entries);
  facts.add("problem", "nonzeros", run.nonzeros);
  return facts.take();
}

std::vector<RunFact> facts_of(const Json& summary) {
  Facts facts;
  const auto add = [&](std::string_view group, std::initializer_list<const char*> keys) {
    for (const char* key : keys) facts.add(group, key, summary[key]);
  };
  add("problem", {"problem_id", "solver", "matrix"});
  if (summary["parameters"].is_string()) facts.add_parameters(summary["parameters"].get<std::string>());
  if (summary.contains("schema")) facts.add("problem", "schema", variables_text(summary.at("schema")));
  add("problem", {"rows", "nonzeros"});
  add("options", {"mode", "program", "coordination", "buffers", "slots", "durability", "reduce", "passes", "elastic",
                  "resumed_from", "matrix_memory", "dram_limit_bytes"});
  add("machine", {"storage", "producer_cores", "analyzer_cores", "node_file"});
  add("build", {"version", "matrix_format"});
  return facts.take();
}

const Json* find_fact(std::span<const RunFact> facts, std::string_view name) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const RunFact& fact) { return fact.name == name; });
  return found == facts.end() ? nullptr : &found->value;
}

FactComparison compare_facts(const std::vector<std::vector<RunFact>>& runs) {
  FactComparison comparison;
  for (const std::string_view group : kGroups) {
    std::vector<std::string> names;
    for (const std::vector<RunFact>& facts : runs) {
      for (const RunFact& fact : facts) {
        if (fact.group == group && std::find(names.begin(), names.end(), fact.name) == names.end()) {
          names.push_back(fact.name);
        }
      }
    }
    for (const std::string& name : names) {
      DifferingFact fact{std::string(group), name, {}};
      std::vector<Json> said;
      for (const std::vector<RunFact>& facts : runs) {
        const Json* const value = find_fact(facts, name);
        fact.values.push_back(value == nullptr ? Json() : *value);
        if (value != nullptr) said.push_back(*value);
      }
      if (said.size() < 2) {
        ++comparison.single;
      } else if (std::all_of(said.begin(), said.end(), [&](const Json& value) { return value == said.front(); })) {
        ++comparison.equal;
      } else {
        comparison.differing.push_back(std::move(fact));
      }
    }
  }
  return comparison;
}

}  // namespace ringside
