// SPDX-License-Identifier: BSD-3-Clause
// Variables as text: csv, and Matrix Market's arrays. Each file is a table of one variable (real numbers or integers).
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

/// Writes one variable entry by entry: a head, then use(row, column) in the format's order.
class TextSink : public ExportSink {
 public:
  explicit TextSink(const ExportTarget& target)
      : variable_(target.variables.at(0).variable), file_(target.output, "--output", target.kept) {
    const std::vector<std::uint64_t>& shape = variable_.shape;
    if (!shape.empty()) rows_ = shape[0];
    if (shape.size() == 2) columns_ = shape[1];
  }
  void accept() override {}
  void finish() override { file_.finish(); }

 protected:
  const Variable variable_;
  OutputFile file_;
  std::uint64_t rows_ = 1;
  std::uint64_t columns_ = 1;
};

class CsvSink final : public TextSink {
 public:
  using TextSink::TextSink;
  void write(const ExportedStep& step) override {
    const bool table = variable_.shape.size() == 2;
    file_.write(table ? "row,column,value\n" : "row,value\n");
    std::uint64_t row = 0;
    std::uint64_t column = 0;
    for_each_part(variable_, step, 0, [&](const void* data, std::size_t bytes) {
      const std::span values(static_cast<const std::byte*>(data), bytes);
      for (std::uint64_t i = 0; i < bytes / bytes_of(variable_.dtype); ++i) {
        const std::string value = entry_text(variable_.dtype, values, i);
        file_.write(table ? fmt::format("{},{},{}\n", row, column, value) : fmt::format("{},{}\n", row, value));
        if (++column == columns_) {
          column = 0;
          ++row;
        }
      }
    });
  }
};

/// Matrix Market stores arrays column by column.
class MtxSink final : public TextSink {
 public:
  using TextSink::TextSink;
  void write(const ExportedStep& step) override {
    const std::size_t entry_bytes = bytes_of(variable_.dtype);
    const std::span<const std::byte> values = step.part(0, whole_of(variable_.shape, entry_bytes));
    const char* const field = class_of(variable_.dtype) == DTypeClass::kInteger ? "integer" : "real";
    file_.write(fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field, rows_, columns_));
    for (std::uint64_t column = 0; column < columns_; ++column) {
      for (std::uint64_t row = 0; row < rows_; ++row) {
        file_.write(entry_text(variable_.dtype, values, row * columns_ + column) + "\n");
        step.wrote(entry_bytes);
      }
    }
  }
};

}  // namespace

void check_table(const ExportTarget& target) {
  const Variable& variable = target.variables.at(0).variable;
  const bool complex = class_of(variable.dtype) == DTypeClass::kComplex;
  if (!complex && variable.shape.size() <= 2) return;
  throw usage_error("--format: csv and mtx hold real numbers and integers of at most two dimensions, '{}' is {}; give npy or npz",
                    variable.name, to_text(variable));
}

std::unique_ptr<ExportSink> make_csv(const ExportTarget& target) {
  return std::make_unique<CsvSink>(target);
}

std::unique_ptr<ExportSink> make_mtx(const ExportTarget& target) {
  return std::make_unique<MtxSink>(target);
}

}  // namespace ringside
