// SPDX-License-Identifier: BSD-3-Clause
// The results of one step as a record holds them: values by name. If no description of the run is left, they have
// their numbers as names: #0, #1 ...
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

/// One value. What is absent is 0.
struct StepValue {
  ValueType type = ValueType::kF64;
  bool present = false;
  std::uint64_t words[2] = {};  // of an i128: the low one first

  double f64() const noexcept { return std::bit_cast<double>(words[0]); }
  std::int64_t i64() const noexcept { return static_cast<std::int64_t>(words[0]); }
  Int128 i128() const noexcept { return static_cast<Int128>(static_cast<UInt128>(words[1]) << 64 | words[0]); }
  /// Of any type; rounded where a double cannot hold it. NaN if the value is absent.
  double as_double() const noexcept;
  /// With the same type, and equal bit by bit.
  bool operator==(const StepValue&) const = default;
};

/// Shortest digits that read back as the same number; "-" if the value is absent.
std::string to_text(const StepValue& value);

class StepResults {
 public:
  /// No results.
  StepResults() = default;
  /// words: layout->words() of them, as RecordLayout::gather writes them.
  StepResults(SharedLayout layout, std::span<const std::uint64_t> words);
  /// Without names. words: counts.words() of them.
  StepResults(const ColumnCounts& counts, std::vector<std::uint64_t> words)
      : counts_(counts), words_(std::move(words)) {}
  /// The same, as a record's columns hold them, which may be hostile. i128_words: two a value. values: the columns
  /// f64, i64 and i128, one behind the other. absent: as in wire::Results. Nothing if they cannot be those of a step:
  /// half an i128, or marks of absence for other values.
  static std::optional<StepResults> of_columns(std::size_t f64, std::size_t i64, std::size_t i128_words,
                                               std::span<const std::uint64_t> values, std::string_view absent);

  /// Gives the values their names, if the layout has as many of each type. layout: null changes nothing.
  void name_by(const SharedLayout& layout);

  std::size_t size() const noexcept { return counts_.values(); }
  bool empty() const noexcept { return size() == 0; }
  /// In the order of the catalogue; without a layout, in the order of the numbers. index: below size().
  std::string name(std::size_t index) const;
  StepValue value(std::size_t index) const noexcept;

  /// Absent if there is no result of that name.
  StepValue find(std::string_view full_name) const noexcept;
  StepValue value_of(const RecordedResult& recorded) const noexcept { return at(recorded.number); }

  /// Null if the description of the run is lost.
  const SharedLayout& layout() const noexcept { return layout_; }
  const ColumnCounts& counts() const noexcept { return counts_; }
  std::span<const std::uint64_t> words() const noexcept { return words_; }

 private:
  StepValue at(std::size_t number) const noexcept;

  SharedLayout layout_;
  ColumnCounts counts_;
  std::vector<std::uint64_t> words_;
};

/// A step as a record holds it.
struct RecordedStep {
  StepFigures figures;
  StepResults results;
};

}  // namespace ringside
