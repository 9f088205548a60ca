// SPDX-License-Identifier: BSD-3-Clause
// A table as Arrow writes it: the file of Arrow's IPC format (also called Feather, version 2), or the stream that the
// file consists of. The metadata are FlatBuffers, made by that library; the columns are written as they lie in memory.
// Specification: https://arrow.apache.org/docs/format/Columnar.html
#pragma once

#include <cstdint>
#include <functional>

#include "cli/export/records/records_table.hpp"

namespace ringside {

enum class ArrowForm { kFile, kStream };

/// Calls put(data, bytes) for each part, in order. An i128 becomes a decimal128(38, 0). The units are in the metadata
/// of the fields, as `unit`.
void write_arrow(const RecordsTable& table, ArrowForm form, const std::function<void(const void*, std::size_t)>& put);

}  // namespace ringside
