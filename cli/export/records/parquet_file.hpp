// SPDX-License-Identifier: BSD-3-Clause
// Writes Parquet with pyarrow: Debian has no library for it, and our own encoder would be a second, untested one.
// `python3` from PATH reads the table as an Arrow stream on its standard input, and writes the file on its standard
// output.
#pragma once

#include "cli/export/records/records_table.hpp"
#include "common/files/output_file.hpp"

namespace ringside {

/// Throws Error (exit code 3) if there is no python3 with pyarrow, or if it fails.
void write_parquet(const RecordsTable& table, OutputFile& file);

}  // namespace ringside
