// SPDX-License-Identifier: BSD-3-Clause
// The results of one step as a record contains them: values by name. If the description of the run is lost, the numbers
// of the values serve as names: #0, #1 ...
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/records/record_layout.hpp"
#include "common/records/step_figures.hpp"
#include "common/results/result_values.hpp"

namespace ringside {

/// One value. All members of an absent value are 0.
struct StepValue {
  ValueType type = ValueType::kF64;
  bool present = false;
  std::uint64_t words[2] = {};  // for an i128: the low word first

  double f64() const noexcept { return std::bit_cast<double>(words[0]); }
  std::int64_t i64() const noexcept { return static_cast<std::int64_t>(words[0]); }
  Int128 i128() const noexcept { return static_cast<Int128>(static_cast<UInt128>(words[1]) << 64 | words[0]); }
  /// The value, which may have any type, rounded if a double cannot represent it. NaN if the value is absent.
  double as_double() const noexcept;
  /// Equal values have the same type and the same bits.
  bool operator==(const StepValue&) const = default;
};

/// The shortest text that reads back as the same number; "-" if the value is absent.
std::string to_text(const StepValue& value);

class StepResults {
 public:
  /// An object without results.
  StepResults() = default;
  /// words: layout->words() words, as RecordLayout::gather writes them.
  StepResults(SharedLayout layout, std::span<const std::uint64_t> words);
  /// Results without names. words: counts.words() words.
  StepResults(const ColumnCounts& counts, std::vector<std::uint64_t> words)
      : counts_(counts), words_(std::move(words)) {}
  /// Results without names, from the columns of a record, which may be hostile. i128_words: two for each value. values:
  /// the columns f64, i64 and i128, one after the other. absent: as in wire::Results. Returns nothing if the columns
  /// cannot belong to a step: half an i128, or marks of absence for values that do not exist.
  static std::optional<StepResults> of_columns(std::size_t f64, std::size_t i64, std::size_t i128_words,
                                               std::span<const std::uint64_t> values, std::string_view absent);

  /// Gives the values their names, if the layout has as many values of each type. A null layout changes nothing.
  void name_by(const SharedLayout& layout);

  std::size_t size() const noexcept { return counts_.values(); }
  bool empty() const noexcept { return size() == 0; }
  /// The name of the value at `index`, which is less than size(). The values are in the order of the catalogue or,
  /// without a layout, in the order of their numbers.
  std::string name(std::size_t index) const;
  StepValue value(std::size_t index) const noexcept;

  /// The value of that name, marked as absent if there is no such result.
  StepValue find(std::string_view full_name) const noexcept;
  StepValue value_of(const RecordedResult& recorded) const noexcept { return at(recorded.number); }

  /// Null if the description of the run is not known.
  const SharedLayout& layout() const noexcept { return layout_; }
  const ColumnCounts& counts() const noexcept { return counts_; }
  std::span<const std::uint64_t> words() const noexcept { return words_; }

 private:
  StepValue at(std::size_t number) const noexcept;

  SharedLayout layout_;
  ColumnCounts counts_;
  std::vector<std::uint64_t> words_;
};

/// A step as a record contains it.
struct RecordedStep {
  StepFigures figures;
  StepResults results;
};

}  // namespace ringside
