// SPDX-License-Identifier: BSD-3-Clause
// From a mapped file to the text of one matrix: unpacks it, and takes the matrix out of a tar or zip archive.
#pragma once

#include <string>

#include "producer/text/text_source.hpp"

namespace ringside {

struct InputText {
  Text text;
  std::string file_name;  // its ending may decide the format: the path without packing, or the name in an archive
  std::string name;       // in messages: the path, or "PATH:MEMBER"
};

/// A file, or a member of an archive.
struct NamedInput {
  std::string path = {};
  std::string member = {};  // its path in the archive, or the last part of it; empty: no member
};

/// "ARCHIVE:MEMBER" if no file has this whole name, but one has the name before a colon (the last such). In all other
/// cases the file.
NamedInput named_input(const std::string& name);

/// `file` is that of `input.path`. Throws `Error` (exit code 2) if the file is damaged (`unpack`, `tar_members`,
/// `unzip`), if a member was named and the file is no archive, or if no member is clearly the named one or the matrix
/// (docs/use/run.md); the message lists what was found.
InputText input_text(Text file, const NamedInput& named);

}  // namespace ringside
