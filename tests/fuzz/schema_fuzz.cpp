// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of variables and results from a hostile peer or file: random bytes, or descriptions that are nearly
// right. In every case, the result must be one Error, or a schema whose variables are in order and inside the payload,
// and a catalogue whose values are in order and inside the words.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/results/catalogue.hpp"
#include "common/text/fixed_text.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace ringside;

/// Changes up to three bytes of `object`.
template <class T>
void damage(T& object, FuzzedDataProvider& data) {
  auto* bytes = reinterpret_cast<unsigned char*>(&object);
  for (int changes = data.ConsumeIntegralInRange(0, 3); changes > 0; --changes) {
    bytes[data.ConsumeIntegralInRange<std::size_t>(0, sizeof object - 1)] = data.ConsumeIntegral<unsigned char>();
  }
}

VariableDescription nearly_right_variable(FuzzedDataProvider& data, std::size_t index) {
  VariableDescription variable;
  assign(variable.name, "v" + std::to_string(index));
  variable.dtype = data.ConsumeIntegralInRange<std::uint16_t>(1, 12);
  variable.role = data.ConsumeIntegralInRange<std::uint16_t>(1, 2);
  variable.dims = data.ConsumeIntegralInRange<std::uint32_t>(0, 3);
  for (std::uint32_t d = 0; d < variable.dims; ++d)
    variable.shape[d] = data.ConsumeIntegralInRange<std::uint64_t>(1, 99);
  if (data.ConsumeBool()) damage(variable, data);
  return variable;
}

ResultDescription nearly_right_result(FuzzedDataProvider& data, std::size_t index) {
  ResultDescription result;
  assign(result.name, "r" + std::to_string(index));
  result.type = ValueType{data.ConsumeIntegralInRange<std::uint8_t>(1, 3)};
  result.source = ResultSource{data.ConsumeIntegralInRange<std::uint8_t>(1, 3)};
  if (result.source == ResultSource::kReduction) result.classes = data.ConsumeIntegralInRange<std::uint16_t>(1, 7);
  if (result.source == ResultSource::kScalar) result.type = ValueType::kF64;
  result.count = result.source == ResultSource::kScalar ? 1 : data.ConsumeIntegralInRange<std::uint32_t>(1, 300);
  if (data.ConsumeBool()) damage(result, data);
  return result;
}

void check(const Schema& schema) {
  std::uint64_t end = 0;
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const VariablePlace& place = schema.place(v);
    fuzzing::demand(place.offset >= end && place.offset % kVariableAlignment == 0, "variables lie in order, at pages");
    fuzzing::demand(place.bytes >= 1 && place.bytes <= place.stored_bytes, "a variable has bytes");
    end = place.offset + place.stored_bytes;
  }
  fuzzing::demand(end == schema.payload_bytes() && end <= kMostPayloadBytes, "the payload ends with its last variable");
  fuzzing::demand(Schema::decode(schema.encode(), "again") == schema, "an encoded schema is the same schema");
}

void check(const Catalogue& catalogue) {
  std::uint64_t end = catalogue.presence_words();
  std::uint64_t bit = 0;
  for (const Result& result : catalogue.results()) {
    fuzzing::demand(catalogue.find(result.full_name) == &result, "a result is found by its name");
    if (result.source == ResultSource::kScalar) continue;
    fuzzing::demand(result.bit == bit++ && result.bit < 64 * catalogue.presence_words(), "a result has its bit");
    fuzzing::demand(result.word == end, "values lie in order");
    end += std::uint64_t{result.count} * words_of(result.type);
  }
  fuzzing::demand(end == catalogue.words() && end <= kMostResultWords, "the words end with the last value");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  std::vector<VariableDescription> variables(data.ConsumeIntegralInRange<std::size_t>(0, 8));
  std::vector<ResultDescription> results(data.ConsumeIntegralInRange<std::size_t>(0, 8));
  const bool noise = data.ConsumeIntegralInRange(0, 7) == 0;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (noise) {
      data.ConsumeData(&variables[v], sizeof variables[v]);
    } else {
      variables[v] = nearly_right_variable(data, v);
    }
  }
  for (std::size_t r = 0; r < results.size(); ++r) results[r] = nearly_right_result(data, r);
  fuzzing::run([&] {
    const Schema schema = Schema::decode(variables, "attach request");
    check(schema);
    check(Catalogue::decode(schema, results, "attach request"));
  });
  return 0;
}
