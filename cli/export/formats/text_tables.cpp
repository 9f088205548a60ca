// SPDX-License-Identifier: BSD-3-Clause
// Writes variables as text: csv, and the array format of Matrix Market. Each file is a table of one variable (real
// numbers or integers).
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "cli/export/formats/export_format.hpp"
#include "common/files/output_file.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

/// The shortest text that reads back as the same number, so that text formats lose no bit.
std::string entry_text(DType dtype, std::span<const std::byte> values, std::uint64_t index) {
  return with_type(dtype, [&](auto value) {
    std::memcpy(&value, values.data() + index * sizeof value, sizeof value);
    return fmt::format("{}", value);
  });
}

}  // namespace

void check_table(const ExportTarget& target) {
  const Variable& variable = target.variables.at(0).variable;
  const bool complex = class_of(variable.dtype) == DTypeClass::kComplex;
  if (!complex && variable.shape.size() <= 2) return;
  throw usage_error(
      "--format: csv and mtx hold real numbers and integers of at most two dimensions, but '{}' is {}; use npy or npz",
      variable.name, to_text(variable));
}

void write_csv(OutputFile& file, const ExportTarget& target, const ExportedStep& step) {
  const Variable& variable = target.variables.at(0).variable;
  const bool table = variable.shape.size() == 2;
  const std::uint64_t columns = table ? variable.shape[1] : 1;
  file.write(table ? "row,column,value\n" : "row,value\n");
  std::uint64_t entry = 0;
  for_each_part(variable, step, 0, [&](const void* data, std::size_t bytes) {
    const std::span values(static_cast<const std::byte*>(data), bytes);
    for (std::uint64_t i = 0; i < bytes / bytes_of(variable.dtype); ++i, ++entry) {
      const std::uint64_t row = entry / columns;
      const std::string value = entry_text(variable.dtype, values, i);
      file.write(table ? fmt::format("{},{},{}\n", row, entry % columns, value) : fmt::format("{},{}\n", row, value));
    }
  });
}

/// Matrix Market stores arrays column by column.
void write_mtx(OutputFile& file, const ExportTarget& target, const ExportedStep& step) {
  const Variable& variable = target.variables.at(0).variable;
  const std::uint64_t rows = variable.shape.empty() ? 1 : variable.shape[0];
  const std::uint64_t columns = variable.shape.size() == 2 ? variable.shape[1] : 1;
  const std::size_t entry_bytes = bytes_of(variable.dtype);
  const std::span<const std::byte> values = step.part(0, whole_of(variable.shape, entry_bytes));
  const char* const field = class_of(variable.dtype) == DTypeClass::kInteger ? "integer" : "real";
  file.write(fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field, rows, columns));
  for (std::uint64_t column = 0; column < columns; ++column) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      file.write(entry_text(variable.dtype, values, row * columns + column) + "\n");
      step.wrote(entry_bytes);
    }
  }
}

}  // namespace ringside
