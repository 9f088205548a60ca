// SPDX-License-Identifier: BSD-3-Clause
// Makes archives in memory, as bzip2 and tar would write them. This file also contains frames that zstd has written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside::testing {

/// One bzip2 stream.
std::string bzip2_of(std::string_view text);

/// One zstd frame. libarchive writes it without a checksum.
std::string zstd_of(std::string_view text);

/// A zstd frame that `zstd` wrote, with the checksum of the content. The contents of the two frames are "0 1\n1 2\n"
/// and "2 3\n3 0\n".
std::string zstd_of_first_lines();
std::string zstd_of_second_lines();

struct Member {
  enum class Kind { kFile, kFolder, kSymbolicLink, kHardLink, kPipe, kSparseFile };
  std::string name;
  std::string content = {};  // the content of a file
  Kind kind = Kind::kFile;
  std::string target = {};  // the target of a link
};

enum class TarFormat { kPax, kGnu, kUstar, kV7 };

std::string tar_of(const std::vector<Member>& members, TarFormat format = TarFormat::kUstar);

/// password: empty for members that are not encrypted.
std::string zip_of(const std::vector<Member>& members, const std::string& password = {});

}  // namespace ringside::testing
