// SPDX-License-Identifier: BSD-3-Clause
// Parquet, written by pyarrow: Debian has no library for it, and an encoder of our own would be a second, untested
// one. `python3` of PATH gets the table as an Arrow stream on its standard input and writes the file that it has as
// standard output.
#pragma once

#include "cli/export/records/records_table.hpp"
#include "common/files/output_file.hpp"

namespace ringside {

/// Throws Error (exit code 3) if there is no python3 with pyarrow, or if that fails.
void write_parquet(const RecordsTable& table, OutputFile& file);

}  // namespace ringside
