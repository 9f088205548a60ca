// SPDX-License-Identifier: BSD-3-Clause
// Unpacks a text into memory: gzip, xz, bzip2, zstd. The first bytes decide which of them it is, not the name.
#pragma once

#include <string>
#include <string_view>

#include "producer/text/text_source.hpp"

namespace ringside {

/// True if `bytes` begin like data that `unpack` unpacks.
bool is_packed(std::string_view bytes);

/// Unpacks all members, streams or frames of `packed` as one text. `name` is the file's name in messages. Every byte is
/// accounted for: throws `Error` (exit code 2) if the bytes are damaged, cut short, or followed by anything else than
/// the zeros that docs/use/inputs.md allows. Memory grows with the unpacked text, not with sizes that a header claims.
Text unpack(std::string_view packed, const std::string& name);

/// The file's name without the endings of packings: "a.mtx" for "a.mtx.gz".
std::string_view name_without_packing(std::string_view file_name);

}  // namespace ringside
