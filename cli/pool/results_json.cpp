// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/results_json.hpp"

#include "common/records/results_json.hpp"
#include "common/results/result_values.hpp"

namespace ringside {
namespace {

Json value_of(const ResultValues& values, const Result& result) {
  StepValue value{.type = result.type, .present = values.present(result)};
  value.words[0] = values.words()[result.word];
  if (result.type == ValueType::kI128) value.words[1] = values.words()[result.word + 1];
  return to_json(value);
}

}  // namespace

Json results_to_json(const Catalogue& catalogue, std::span<const std::uint64_t> words) {
  if (words.size() != catalogue.words()) return {};
  Json object = Json::object();
  for (const Result& result : catalogue.results()) {
    if (result.source == ResultSource::kScalar || result.count != 1) continue;
    object[result.full_name] = value_of(ResultValues(words), result);
  }
  return object;
}

}  // namespace ringside
