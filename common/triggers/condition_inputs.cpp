// SPDX-License-Identifier: BSD-3-Clause
#include "common/triggers/condition_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "common/results/result_values.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::string_view kNonFinite = "non_finite";
constexpr std::string_view kOfRun = "run.";  // the prefix of a fact, needed if a result has the same name
constexpr std::size_t kMostListed = 60;  // the most names in a message

std::string_view without_first_part(std::string_view full_name) {
  return full_name.substr(full_name.find('.') + 1);
}

ConditionInputs::Value value_of(double number) noexcept {
  return {number, true, number, number};
}

ConditionInputs::Value value_of(Int128 number) noexcept {
  const auto nearest = static_cast<double>(number);
  constexpr double kEnd = 0x1p126, kInfinity = std::numeric_limits<double>::infinity();
  const bool is_small = -kEnd < nearest && nearest < kEnd;  // otherwise converting back would overflow
  if (is_small && static_cast<Int128>(nearest) == number) return value_of(nearest);
  const bool is_above = is_small && number > static_cast<Int128>(nearest);
  return {nearest, true, is_above ? nearest : std::nextafter(nearest, -kInfinity),
          is_small && !is_above ? nearest : std::nextafter(nearest, kInfinity)};
}

ConditionInputs::Value value_of(const RecordedResult& recorded, std::span<const std::uint64_t> words) noexcept {
  if ((words[recorded.number / 64] >> (recorded.number % 64) & 1) != 0) return {};
  const std::uint64_t low = words[recorded.word];
  switch (recorded.result->type) {
    case ValueType::kF64: return value_of(std::bit_cast<double>(low));
    case ValueType::kI64: return value_of(Int128{static_cast<std::int64_t>(low)});
    case ValueType::kI128: break;
  }
  return value_of(static_cast<Int128>(static_cast<UInt128>(words[recorded.word + 1]) << 64 | low));
}

ConditionInputs::Value sum_of(std::span<const RecordedResult> results, std::span<const std::uint64_t> words) noexcept {
  ConditionInputs::Value sum;
  for (const RecordedResult& recorded : results) {
    const ConditionInputs::Value value = value_of(recorded, words);
    sum = {sum.number + value.number, sum.present || value.present, sum.low + value.low, sum.high + value.high};
  }
  return sum;
}

}  // namespace

ConditionInputs::Input* ConditionInputs::find(std::string_view name, std::string& why_not) {
  for (Source& source : sources_) {
    if (source.name == name) return &source.input;
  }
  constexpr std::array<std::pair<std::string_view, Fact>, 5> kFacts = {{{"iteration", Fact::kIteration},
                                                                        {"step", Fact::kStep},
                                                                        {"time", Fact::kTime},
                                                                        {"producer_idle", Fact::kProducerIdle},
                                                                        {"analyzer_idle", Fact::kAnalyzerIdle}}};
  Source source;
  source.name = name;
  const bool is_qualified = name.starts_with(kOfRun);
  for (const auto& [known, fact] : kFacts) {
    if (known == name.substr(is_qualified ? kOfRun.size() : 0)) source.fact = fact;
  }
  if (source.fact != Fact::kNone && layout_->find(name) != nullptr) {
    why_not = fmt::format(
        "'{}' is both an input of the run and the name of a result; expected another name for the variable 'run'",
        name);
    return nullptr;
  }
  if (source.fact != Fact::kNone && !is_qualified) {
    for (const RecordedResult& recorded : layout_->results()) {
      const std::string& full_name = recorded.result->full_name;
      if (without_first_part(full_name) != name) continue;
      why_not = fmt::format("'{}' is both an input of the run and the end of {}; expected {}{} or {}", name, full_name,
                            kOfRun, name, full_name);
      return nullptr;
    }
  }
  if (source.fact == Fact::kNone) {
    source.results = results_named(name, why_not);
    if (source.results.empty()) return nullptr;
  }
  return &sources_.emplace_back(std::move(source)).input;
}

/// Returns the result with that full name. If there is none, returns the only result whose name without its first part
/// is `name`; for `non_finite`, all results with that name.
std::vector<RecordedResult> ConditionInputs::results_named(std::string_view name, std::string& why_not) const {
  if (const RecordedResult* exact = layout_->find(name)) return {*exact};
  std::vector<RecordedResult> found;
  for (const RecordedResult& recorded : layout_->results()) {
    const Result& result = *recorded.result;
    // Only our own reduction counts entries; a solver or a plug-in may use the same name for something else.
    const bool ours = result.source == ResultSource::kReduction && result.origin == Id128{};
    if (without_first_part(result.full_name) == name && (ours || name != kNonFinite)) found.push_back(recorded);
  }
  if (found.size() > 1 && name != kNonFinite) {
    std::vector<std::string> full;
    for (const RecordedResult& recorded : found) full.push_back(recorded.result->full_name);
    why_not = fmt::format("'{}' is the end of {} names; expected one of {}", name, found.size(), fmt::join(full, ", "));
    return {};
  }
  if (!found.empty()) return found;
  const auto arrays = layout_->catalogue().results();
  const auto array = std::find_if(arrays.begin(), arrays.end(), [&](const Result& result) {
    return result.full_name == name || without_first_part(result.full_name) == name;
  });
  if (array != arrays.end()) {
    why_not = fmt::format("'{}' has {} numbers, expected the name of one number", name, array->count);
  } else {
    why_not = fmt::format("the run has nothing named '{}'; expected one of {}", shortened(name), names());
  }
  return {};
}

std::string ConditionInputs::names() const {
  std::vector<std::string> all;
  for (const RecordedResult& recorded : layout_->results()) all.push_back(recorded.result->full_name);
  const std::size_t more = all.size() > kMostListed ? all.size() - kMostListed : 0;
  all.resize(all.size() - more);
  if (more > 0) all.push_back(fmt::format("{} more results", more));
  for (const char* fact : {"iteration", "step", "time", "producer_idle", "analyzer_idle"}) all.emplace_back(fact);
  return fmt::format("{}", fmt::join(all, ", "));
}

double ConditionInputs::fact(Fact which, const StepFacts& facts) noexcept {
  switch (which) {
    case Fact::kTime: return facts.time_s;
    case Fact::kProducerIdle: return facts.producer_idle;
    case Fact::kAnalyzerIdle: return facts.analyzer_idle;
    default: return 0;
  }
}

ConditionInputs::Value ConditionInputs::of(const Input& input, std::span<const std::uint64_t> words) const noexcept {
  const auto source = std::find_if(sources_.begin(), sources_.end(), [&](const Source& one) { return &one.input == &input; });
  return source == sources_.end() ? Value() : sum_of(source->results, words);
}

void ConditionInputs::take(std::span<const std::uint64_t> words, const StepFacts& facts) noexcept {
  for (Source& source : sources_) {
    source.input.before = source.input.now;
    if (source.fact != Fact::kNone) {
      const bool is_count = source.fact == Fact::kIteration || source.fact == Fact::kStep;
      source.input.now = is_count ? value_of(Int128{source.fact == Fact::kStep ? facts.step : facts.iteration})
                                  : value_of(fact(source.fact, facts));
      continue;
    }
    source.input.now = sum_of(source.results, words);
  }
}

}  // namespace ringside
