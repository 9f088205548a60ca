// SPDX-License-Identifier: BSD-3-Clause
// The formats read by libarchive: texts packed by bzip2 or zstd, and tar and zip archives. This code writes nothing to
// disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "producer/text/text_source.hpp"

namespace ringside {

/// Unpacks all consecutive streams, as `unpack` does (producer/text/packed_text.hpp). Only zeros may follow the last
/// stream.
Text unpack_bzip2(std::string_view packed, const std::string& name);

/// Unpacks all consecutive frames, as `unpack` does; nothing may follow them. A frame may require at most 128 MiB of
/// memory (libzstd's limit).
Text unpack_zstd(std::string_view packed, const std::string& name);

/// True if `bytes` begin with a tar archive's first header, or are zeros only (an archive without members).
bool is_tar(std::string_view bytes);

struct TarMember {
  std::string name;       // the member's path in the archive, which can contain any bytes
  std::string_view text;  // a part of the archive's bytes
};

/// The regular files in a tar archive. Folders, links, devices and sparse files are left out. `name` is the archive's
/// name in messages. Throws `Error` (exit code 2) if a header is damaged, the end of the archive is missing, or bytes
/// other than zeros follow it.
std::vector<TarMember> tar_members(std::string_view tar, const std::string& name);

/// True if `bytes` begin like a zip archive.
bool is_zip(std::string_view bytes);

struct ZipMember {
  std::string name;    // the member's path, as in TarMember::name
  std::size_t number;  // the member's number among all members
};

/// The regular files that a zip archive's directory lists; nothing is unpacked. Throws `Error` (exit code 2) if the
/// directory is damaged or missing.
std::vector<ZipMember> zip_members(std::string_view zip, const std::string& name);

/// Unpacks a member. Throws `Error` (exit code 2) if the member is damaged (its CRC-32 is checked), encrypted, or
/// packed in a way that libarchive does not support.
Text unzip(std::string_view zip, const ZipMember& member, const std::string& name);

}  // namespace ringside
