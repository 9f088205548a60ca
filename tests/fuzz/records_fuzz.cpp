// SPDX-License-Identifier: BSD-3-Clause
// Records of a hostile journal or a hostile publisher: random bytes, and a description and a step in which the fuzzer
// changed some fields. Decoding must end without a crash, and the results must be consistent: a description is the same
// after it was encoded and decoded again, every value has one name, and values that have the names of a run are also
// the same after encoding and decoding.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/records/record_message.hpp"
#include "common/records/result_names.hpp"
#include "common/records/shown_results.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/telemetry/wire_json.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace ringside;

SharedLayout whole_layout() {
  const Schema schema = Schema::of({{.name = "u", .dtype = DType::kF32, .shape = {3, 4}, .unit = "K"},
                                    {.name = "n", .dtype = DType::kI64, .shape = {7}},
                                    {.name = "r", .dtype = DType::kC128, .shape = {5}, .role = Role::kState}});
  const std::vector<Scalar> scalars = {{.name = "rho"}, {.name = "restarts", .type = ValueType::kI64}};
  return std::make_shared<const RecordLayout>(schema, catalogue_of(schema, scalars));
}

std::string text(FuzzedDataProvider& data) {
  return data.ConsumeRandomLengthString(80);
}

void damage(wire::RunDescribed& run, FuzzedDataProvider& data) {
  auto& variable = *run.mutable_schema(data.ConsumeIntegralInRange<int>(0, run.schema_size() - 1));
  auto& result = *run.mutable_results(data.ConsumeIntegralInRange<int>(0, run.results_size() - 1));
  switch (data.ConsumeIntegralInRange(0, 9)) {
    case 0: variable.set_name(text(data)); break;
    case 1: variable.set_dtype(text(data)); break;
    case 2: variable.add_shape(data.ConsumeIntegral<std::uint64_t>()); break;
    case 3: variable.set_role(text(data)); break;
    case 4: result.set_name(text(data)); break;
    case 5: result.set_type(data.PickValueInArray({"f64", "i64", "i128", "f32"})); break;
    case 6: result.set_source(data.PickValueInArray({"reduction", "scalar", "other", ""})); break;
    case 7: result.set_classes(data.ConsumeIntegral<std::uint32_t>()); break;
    case 8: result.set_count(data.ConsumeIntegral<std::uint32_t>()); break;
    default: result.set_unit(text(data)); break;
  }
}

void damage(wire::Results& results, FuzzedDataProvider& data) {
  switch (data.ConsumeIntegralInRange(0, 4)) {
    case 0: results.set_absent(text(data)); break;
    case 1: results.add_f64(data.ConsumeFloatingPoint<double>()); break;
    case 2: results.add_i64(data.ConsumeIntegral<std::int64_t>()); break;
    case 3: results.add_i128(data.ConsumeIntegral<std::uint64_t>()); break;
    default: results.set_catalogue(data.ConsumeIntegral<std::uint64_t>()); break;
  }
}

void check(const SharedLayout& layout) {
  if (!layout) return;
  const SharedLayout again = layout_of(describe_run("0123456789abcdef", *layout));
  fuzzing::demand(again && again->hash() == layout->hash(), "a description comes back as it went");
}

void check(const StepResults& results) {
  fuzzing::demand(results.words().size() == results.counts().words(), "each value has its words");
  std::set<std::string> names;
  for (std::size_t i = 0; i < results.size(); ++i) {
    fuzzing::demand(names.insert(results.name(i)).second, "each value has a name of its own");
    (void)to_text(results.value(i));
  }
  (void)shown_of(results);
  if (!results.layout()) return;
  wire::Results message;
  fill(message, *results.layout(), results.words());
  const auto columns = columns_of(message);
  fuzzing::demand(columns && std::ranges::equal(columns->words(), results.words()), "values come back as they went");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const SharedLayout whole = whole_layout();
  FuzzedDataProvider data(bytes, size);
  ResultNames names;
  wire::Record record;
  if (data.ConsumeBool()) {  // random bytes
    const std::string noise = data.ConsumeRemainingBytesAsString();
    if (!record.ParseFromString(noise)) return 0;
  } else {
    *record.mutable_run_described() = describe_run("0123456789abcdef", *whole);
    for (int i = data.ConsumeIntegralInRange(0, 3); i > 0; --i) damage(*record.mutable_run_described(), data);
    check(layout_of(record.run_described()));
    names.learn(record);
    names.learn(data.ConsumeBool() ? whole : nullptr);
    std::vector<std::uint64_t> words(whole->words());
    const StepWithScalars step;
    whole->gather({}, data.ConsumeBool() ? &step : nullptr, words);
    fill(*record.mutable_step()->mutable_results(), *whole, words);
    for (int i = data.ConsumeIntegralInRange(0, 3); i > 0; --i) damage(*record.mutable_step()->mutable_results(), data);
  }
  names.learn(record);
  if (record.has_run_started()) check(layout_of(record.run_started()));
  if (record.has_run_described()) check(layout_of(record.run_described()));
  if (record.has_step()) check(names.results(record.step()));
  (void)to_json(record, names).dump();
  return 0;
}
