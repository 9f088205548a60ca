// SPDX-License-Identifier: BSD-3-Clause
// What libarchive reads: texts packed by bzip2 or zstd, and tar archives. Nothing is ever written to a disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "producer/text/text_source.hpp"

namespace ringside {

/// As `unpack` (producer/text/packed_text.hpp), of all streams in a row. After the last stream only zeros may follow.
Text unpack_bzip2(std::string_view packed, const std::string& name);

/// As `unpack`, of all frames in a row; nothing may follow them. A frame may ask for at most 128 MiB of memory
/// (libzstd's limit).
Text unpack_zstd(std::string_view packed, const std::string& name);

/// True if `bytes` begin with a tar archive's first header, or are zeros only (an archive without members).
bool is_tar(std::string_view bytes);

struct TarMember {
  std::string name;       // with its folders, as the archive has it: any bytes
  std::string_view text;  // a part of the archive's bytes
};

/// The regular files in a tar archive. Folders, links, devices and sparse files are left out. `name` is the archive's
/// name in messages. Throws `Error` (exit code 2) if a header is damaged, the end of the archive is missing, or
/// anything but zeros follows it.
std::vector<TarMember> tar_members(std::string_view tar, const std::string& name);

}  // namespace ringside
