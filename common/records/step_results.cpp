// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/step_results.hpp"

#include <limits>
#include <utility>

#include "common/text/formatted.hpp"

namespace ringside {

double StepValue::as_double() const noexcept {
  if (!present) return std::numeric_limits<double>::quiet_NaN();
  switch (type) {
    case ValueType::kF64: return f64();
    case ValueType::kI64: return static_cast<double>(i64());
    case ValueType::kI128: break;
  }
  return static_cast<double>(i128());
}

std::string to_text(const StepValue& value) {
  if (!value.present) return "-";
  switch (value.type) {
    case ValueType::kF64: return formatted("{}", value.f64());
    case ValueType::kI64: return std::to_string(value.i64());
    case ValueType::kI128: break;
  }
  return to_string(value.i128());
}

StepResults::StepResults(SharedLayout layout, std::span<const std::uint64_t> words)
    : layout_(std::move(layout)), counts_(layout_->counts()), words_(words.begin(), words.end()) {}

StepResults::StepResults(const ColumnCounts& counts, std::span<const std::uint64_t> words)
    : counts_(counts), words_(words.begin(), words.end()) {}

std::string StepResults::name(std::size_t index) const {
  return layout_ ? layout_->results()[index].result->full_name : formatted("#{}", index);
}

StepValue StepResults::value(std::size_t index) const noexcept {
  return at(layout_ ? layout_->results()[index].number : index);
}

StepValue StepResults::find(std::string_view full_name) const noexcept {
  const RecordedResult* recorded = layout_ ? layout_->find(full_name) : nullptr;
  return recorded == nullptr ? StepValue() : at(recorded->number);
}

StepValue StepResults::at(std::size_t number) const noexcept {
  StepValue value;
  value.type = counts_.type(number);
  value.present = (words_[number / 64] >> (number % 64) & 1) == 0;
  if (!value.present) return value;
  const std::size_t word = counts_.first_word(number);
  value.words[0] = words_[word];
  if (value.type == ValueType::kI128) value.words[1] = words_[word + 1];
  return value;
}

}  // namespace ringside
