// SPDX-License-Identifier: BSD-3-Clause
// Unpacks a text that was packed with gzip, xz, bzip2 or zstd into memory. The first bytes determine the packing, not
// the name.
#pragma once

#include <string>
#include <string_view>

#include "producer/text/text_source.hpp"

namespace ringside {

/// True if `bytes` begin like data that `unpack` supports.
bool is_packed(std::string_view bytes);

/// Unpacks all members, streams or frames of `packed` as one text. `name` is the file's name in messages. Every byte is
/// checked. Throws `Error` (exit code 2) if the bytes are damaged or cut short, or if they are followed by bytes other
/// than the zeros that docs/use/run.md allows. Memory grows with the unpacked text, not with sizes that a header
/// claims.
Text unpack(std::string_view packed, const std::string& name);

/// The file's name without the endings of packings: "a.mtx" for "a.mtx.gz".
std::string_view name_without_packing(std::string_view file_name);

}  // namespace ringside
