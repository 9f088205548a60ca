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

std::optional<StepResults> StepResults::of_columns(std::size_t f64, std::size_t i64, std::size_t i128_words,
                                                   std::span<const std::uint64_t> values, std::string_view absent) {
  if (i128_words % 2 != 0) return std::nullopt;
  const ColumnCounts counts{.f64 = f64, .i64 = i64, .i128 = i128_words / 2};
  const std::size_t count = counts.values();
  if (!absent.empty() && absent.size() != (count + 7) / 8) return std::nullopt;
  std::vector<std::uint64_t> words;
  words.reserve(counts.words());
  words.resize(counts.absence_words());
  for (std::size_t i = 0; i < absent.size(); ++i) {
    words[i / 8] |= std::uint64_t{static_cast<unsigned char>(absent[i])} << (8 * (i % 8));
  }
  if (count % 64 != 0 && words.back() >> (count % 64) != 0) return std::nullopt;
  words.insert(words.end(), values.begin(), values.end());
  return StepResults(counts, std::move(words));
}

void StepResults::name_by(const SharedLayout& layout) {
  if (!layout_ && layout && layout->counts() == counts_) layout_ = layout;
}

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
