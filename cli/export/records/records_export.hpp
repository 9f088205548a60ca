// SPDX-License-Identifier: BSD-3-Clause
// `ringside export --records`: the journal's records of the steps as csv, Feather or Parquet.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/pool/pool_arguments.hpp"
#include "common/files/output_file.hpp"

namespace ringside {

class RecordsTable;

inline constexpr const char* kFormatHint = "with --format, the name may have any ending";

struct RecordsFormat {
  std::string_view name;
  std::span<const std::string_view> endings;
  void (*write)(const RecordsTable& table, OutputFile& file);
};

/// All formats, in the order of the help text; the first is the default.
std::span<const RecordsFormat> records_formats();

/// Throws Error (exit code 3) if there is no python3 with pyarrow, or if it fails.
void write_parquet(const RecordsTable& table, OutputFile& file);

struct RecordsOptions {
  std::string pool;
  IterationRange range;
  std::string format;  // empty: from the output's ending
  std::string output;
};

/// Throws Error.
void export_records(const RecordsOptions& options);

}  // namespace ringside
