// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/setting.hpp"

#include <fmt/format.h>

#include <vector>

namespace ringside::crash {
namespace {

std::vector<Variable> variables_of(const Setting& setting) {
  const std::uint64_t rows = setting.rows;
  std::vector<Variable> all = {
      {.name = "x", .dtype = DType::kF64, .shape = {rows}},
      {.name = "u", .dtype = DType::kF32, .shape = {rows / 2, 2}},
      {.name = "flags", .dtype = DType::kI16, .shape = {rows | 1}},
      {.name = "z", .dtype = DType::kC128, .shape = {rows / 8}, .role = Role::kState},
      {.name = "rho", .dtype = DType::kF64, .shape = {}, .role = Role::kState},
  };
  all.resize(setting.variables);
  return all;
}

ResultDescription reduction(const char* name, ValueType type, std::uint32_t count, std::uint32_t run) {
  ResultDescription description;
  assign(description.name, name);
  assign(description.unit, fmt::format("run {}", run));
  description.type = type;
  description.source = ResultSource::kReduction;
  description.classes = 7;
  description.count = count;
  return description;
}

}  // namespace

std::string to_string(const Setting& setting) {
  return fmt::format("{}/{} slots={} rows={} variables={} scalars={} threads={}{}{}", to_string(setting.storage),
                     to_string(setting.durability), setting.slots, setting.rows, setting.variables, setting.scalars,
                     setting.threads, setting.reduces_on_the_way ? " reduce=transfer" : "",
                     setting.scattered ? " scattered" : "");
}

void draw_variables(Setting& setting, Random& random) {
  if (random.one_in(2)) return;
  setting.variables = static_cast<std::uint32_t>(2 + random.below(kMostScenarioVariables - 1));
  setting.scalars = static_cast<std::uint32_t>(random.below(6));
}

Schema schema_of(const Setting& setting) {
  return Schema::of(variables_of(setting));
}

Catalogue catalogue_of(const Setting& setting, std::uint32_t run) {
  // There are more words of results than chunks, because hash_faults.cpp distinguishes the hash of the results from the
  // hash of the chunk hashes by the number of words.
  const ResultDescription reductions[] = {reduction("l2", ValueType::kF64, 1, run),
                                          reduction("bins", ValueType::kI64, 20, run)};
  std::vector<Scalar> scalars;
  for (std::uint32_t s = 0; s < setting.scalars; ++s) scalars.push_back({.name = fmt::format("scalar_{}", s)});
  return Catalogue::of(schema_of(setting), reductions, scalars);
}

RingShape shape_of(const Setting& setting) {
  const Catalogue catalogue = catalogue_of(setting, 0);
  RingShape shape = RingShape::of(schema_of(setting), catalogue);
  shape.results_bytes = round_up(sizeof(ResultsHead) + catalogue.words() * sizeof(std::uint64_t), kLineBytes);
  shape.catalogue_entries = static_cast<std::uint32_t>(catalogue.descriptions().size());
  return shape;
}

}  // namespace ringside::crash
