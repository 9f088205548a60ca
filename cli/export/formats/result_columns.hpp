// SPDX-License-Identifier: BSD-3-Clause
// The results of the exported steps, by name, as columns: one value of each step. For the formats that store results
// beside the variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/records/step_results.hpp"

namespace ringside {

/// Stands for an i64 that a step does not have; an f64 is NaN then.
inline constexpr std::int64_t kAbsentInteger = std::numeric_limits<std::int64_t>::min();

/// One result. It is a column of f64 or of i64: an i128 that does not fit into 64 bits in every step becomes an f64.
struct ResultColumn {
  std::string name;
  std::string unit;
  ValueType type = ValueType::kF64;  // as it was recorded
  std::vector<StepValue> values;     // one for each step
  bool is_integer() const noexcept;  // of the column
  std::vector<double> f64() const;   // where it is no integer
  std::vector<std::int64_t> i64() const;
};

class ExportColumns {
 public:
  /// The results of the next step. A name with another type than before is another column, "NAME (TYPE)".
  void add(const StepResults& results);
  const std::vector<ResultColumn>& columns() const noexcept { return columns_; }

 private:
  ResultColumn& column(const std::string& name, ValueType type, const StepResults& results, std::size_t index);

  std::vector<ResultColumn> columns_;
  std::size_t steps_ = 0;
};

}  // namespace ringside
