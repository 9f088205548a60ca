// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/text_tables.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "common/files/output_file.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

/// The shortest text that reads back as the same number: text formats lose no bit.
std::string entry_text(DType dtype, std::span<const std::byte> values, std::uint64_t index) {
  if (dtype == DType::kF64) {
    double value;
    std::memcpy(&value, values.data() + index * sizeof value, sizeof value);
    return fmt::format("{}", value);
  }
  float value;
  std::memcpy(&value, values.data() + index * sizeof value, sizeof value);
  return fmt::format("{}", value);
}

/// Writes one variable entry by entry: a head, then use(row, column) in the order of the format.
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
  /// Notes progress after each row or column.
  void wrote(const ExportedStep& step, std::uint64_t entries) const { step.wrote(entries * bytes_of(variable_.dtype)); }

  const Variable variable_;
  OutputFile file_;
  std::uint64_t rows_ = 1;
  std::uint64_t columns_ = 1;
};

class CsvSink final : public TextSink {
 public:
  using TextSink::TextSink;
  void write(const ExportedStep& step) override {
    const std::span<const std::byte> values = step.values(0);
    const bool table = variable_.shape.size() == 2;
    file_.write(table ? "row,column,value\n" : "row,value\n");
    for (std::uint64_t row = 0; row < rows_; ++row) {
      for (std::uint64_t column = 0; column < columns_; ++column) {
        const std::string value = entry_text(variable_.dtype, values, row * columns_ + column);
        file_.write(table ? fmt::format("{},{},{}\n", row, column, value) : fmt::format("{},{}\n", row, value));
      }
      wrote(step, columns_);
    }
  }
};

/// Matrix Market's arrays are column by column.
class MtxSink final : public TextSink {
 public:
  using TextSink::TextSink;
  void write(const ExportedStep& step) override {
    const std::span<const std::byte> values = step.values(0);
    file_.write(fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", rows_, columns_));
    for (std::uint64_t column = 0; column < columns_; ++column) {
      for (std::uint64_t row = 0; row < rows_; ++row) {
        file_.write(entry_text(variable_.dtype, values, row * columns_ + column) + "\n");
        wrote(step, 1);
      }
    }
  }
};

}  // namespace

void check_real_table(const ExportTarget& target) {
  const Variable& variable = target.variables.at(0).variable;
  const bool real = class_of(variable.dtype) == DTypeClass::kReal;
  if (real && variable.shape.size() <= 2) return;
  throw usage_error("--format: csv and mtx hold real numbers of at most two dimensions, '{}' is {}; give npy or npz",
                    variable.name, to_text(variable));
}

std::unique_ptr<ExportSink> make_csv(const ExportTarget& target) {
  return std::make_unique<CsvSink>(target);
}

std::unique_ptr<ExportSink> make_mtx(const ExportTarget& target) {
  return std::make_unique<MtxSink>(target);
}

}  // namespace ringside
