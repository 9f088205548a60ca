// SPDX-License-Identifier: BSD-3-Clause
// From a mapped file to the text of one matrix: unpacks it, and takes the matrix out of a tar archive.
#pragma once

#include <string>

#include "producer/text/text_source.hpp"

namespace ringside {

struct InputText {
  Text text;
  std::string file_name;  // its ending may decide the format: the path without packing, or the name in an archive
  std::string name;       // in messages: the path, or "PATH:MEMBER"
};

/// `path` is the file's. Throws `Error` (exit code 2) if the file is damaged (`unpack`, `tar_members`), or if it is an
/// archive in which no member is clearly the matrix (docs/inputs.md); the message lists what was found.
InputText input_text(Text file, const std::string& path);

}  // namespace ringside
