// SPDX-License-Identifier: BSD-3-Clause
// Writes a table as a file of Arrow's IPC format (also called Feather, version 2), or as the stream inside that file.
// FlatBuffers encodes the metadata; the columns are written as they are in memory. Specification:
// https://arrow.apache.org/docs/format/Columnar.html
#pragma once

#include <functional>

#include "cli/export/records/records_table.hpp"

namespace ringside {

enum class ArrowForm { kFile, kStream };

/// Calls put(data, bytes) for each part, in order. An i128 becomes a decimal128(38, 0). The metadata of each field
/// contains its unit under the key `unit`.
void write_arrow(const RecordsTable& table, ArrowForm form, const std::function<void(const void*, std::size_t)>& put);

}  // namespace ringside
