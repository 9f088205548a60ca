// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/records/records_export.hpp"

#include <fmt/format.h>

#include <bit>
#include <vector>

#include "cli/export/records/arrow_file.hpp"
#include "cli/export/records/records_table.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/error.hpp"
#include "common/results/result_values.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// Our cells contain no commas, quotes or new lines. An absent value is an empty cell.
std::string cell_text(ColumnType type, const RecordCell& cell) {
  if (!cell.present) return {};
  switch (type) {
    case ColumnType::kU64: return std::to_string(cell.words[0]);
    case ColumnType::kI64: return std::to_string(static_cast<std::int64_t>(cell.words[0]));
    case ColumnType::kF64: return fmt::format("{}", std::bit_cast<double>(cell.words[0]));
    case ColumnType::kI128:
      return to_string(static_cast<Int128>(static_cast<UInt128>(cell.words[1]) << 64 | cell.words[0]));
    case ColumnType::kBool: return cell.words[0] != 0 ? "true" : "false";
    case ColumnType::kText: break;
  }
  return cell.text;
}

void write_records_csv(const RecordsTable& table, OutputFile& file) {
  std::string line;
  for (const RecordColumn& column : table.columns()) line += (line.empty() ? "" : ",") + column.name;
  file.write(line + "\n");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::vector<RecordCell> cells = table.row(row);
    line.clear();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line += ',';
      line += cell_text(table.columns()[c].type, cells[c]);
    }
    file.write(line + "\n");
  }
}

void write_feather(const RecordsTable& table, OutputFile& file) {
  write_arrow(table, ArrowForm::kFile, [&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
}

constexpr std::string_view kRecordsCsv[] = {".csv"};
constexpr std::string_view kFeather[] = {".feather", ".arrow"};
constexpr std::string_view kParquet[] = {".parquet"};

constexpr RecordsFormat kRecordsFormats[] = {
    {"csv", kRecordsCsv, write_records_csv},
    {"feather", kFeather, write_feather},
    {"parquet", kParquet, write_parquet},
};

const RecordsFormat& chosen_records_format(const RecordsOptions& options) {
  for (const RecordsFormat& one : kRecordsFormats) {
    if (options.format == one.name) return one;
    for (const std::string_view ending : one.endings) {
      if (options.format.empty() && options.output.ends_with(ending)) return one;
    }
  }
  if (!options.format.empty()) {
    throw usage_error("--format: found '{}' with --records, expected csv, feather or parquet", options.format);
  }
  return kRecordsFormats[0];
}

}  // namespace

std::span<const RecordsFormat> records_formats() {
  return kRecordsFormats;
}

void export_records(const RecordsOptions& options) {
  const RecordsFormat& format = chosen_records_format(options);
  const std::vector<KeptFile> kept = {{"POOL", options.pool}};
  check_output(options.output, "--output", kept);
  if (options.format.empty()) {
    std::vector<std::string> endings;
    for (const RecordsFormat& one : kRecordsFormats) {
      endings.insert(endings.end(), one.endings.begin(), one.endings.end());
    }
    refuse_other_endings(options.output, "--output", endings, kFormatHint);
  }
  const RecordsTable table = RecordsTable::read(options.pool, options.range);
  if (!table.damage().empty()) {
    write_standard_error(fmt::format("ringside: note: {}\n", printable(table.damage())));
  }
  OutputFile file(options.output, "--output", kept);
  format.write(table, file);
  file.finish();
  write_beside_output(options.output, fmt::format("{}: {} of {}, {}, as {}\n", printable(output_name(options.output)),
                                                  counted(table.rows(), "record"), printable(options.pool),
                                                  counted(table.columns().size(), "column"), format.name));
}

}  // namespace ringside
