// SPDX-License-Identifier: BSD-3-Clause
// A run with variables of all classes and scalars of both types, and the values of one of its steps.
#pragma once

#include <memory>
#include <vector>

#include "common/records/record_layout.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/results/result_values.hpp"

namespace ringside::testing {

inline Schema mixed_variables() {
  return Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {9}, .role = Role::kState},
                     {.name = "u", .dtype = DType::kF32, .shape = {3, 4}, .unit = "m s-1"},
                     {.name = "z", .dtype = DType::kC128, .shape = {5}},
                     {.name = "n", .dtype = DType::kI64, .shape = {7}, .unit = "1"}});
}

inline std::vector<Scalar> mixed_scalars() {
  return {{.name = "rho"}, {.name = "restarts", .type = ValueType::kI64}, {.name = "omega", .unit = "s"}};
}

inline SharedLayout mixed_layout() {
  const Schema schema = mixed_variables();
  return std::make_shared<const RecordLayout>(schema, catalogue_of(schema, mixed_scalars()));
}

/// Words in the catalogue's layout, with a different value for every result.
inline std::vector<std::uint64_t> mixed_results(const Catalogue& catalogue) {
  std::vector<std::uint64_t> words(catalogue.words());
  ResultWriter writer(words);
  int value = 1;
  for (const Result& result : catalogue.results()) {
    if (result.source == ResultSource::kScalar) continue;
    for (std::uint32_t i = 0; i < result.count; ++i, ++value) {
      if (result.type == ValueType::kF64) writer.set_f64(result, value + 0.5, i);
      if (result.type == ValueType::kI64) writer.set_i64(result, -value, i);
      if (result.type == ValueType::kI128) writer.set_i128(result, -(static_cast<Int128>(value) << 70), i);
    }
  }
  return words;
}

inline StepWithScalars mixed_step() {
  StepWithScalars step;
  step.set_scalar(0, std::bit_cast<std::uint64_t>(0.25));
  step.set_scalar(1, static_cast<std::uint64_t>(std::int64_t{-3}));
  step.set_scalar(2, std::bit_cast<std::uint64_t>(1.5));
  return step;
}

/// The words of a step in which all values are present.
inline std::vector<std::uint64_t> mixed_words(const RecordLayout& layout) {
  std::vector<std::uint64_t> words(layout.words());
  const StepWithScalars step = mixed_step();
  layout.gather(mixed_results(layout.catalogue()), &step, words);
  return words;
}

}  // namespace ringside::testing
