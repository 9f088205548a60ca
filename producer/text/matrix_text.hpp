// SPDX-License-Identifier: BSD-3-Clause
// Makes the text of one matrix from a mapped file: unpacks the file, and takes the matrix out of a tar or zip archive.
#pragma once

#include <string>

#include "producer/text/matrix_name.hpp"
#include "producer/text/text_source.hpp"

namespace ringside {

struct MatrixText {
  Text text;
  std::string file_name;  // the path without packing, or the name in an archive; its ending may decide the format
  std::string name;       // the name in messages: the path, or "PATH:MEMBER"
};

/// file: the content of `named.path`. A byte-order mark is left out. Throws `Error` (exit code 2) if the file is
/// damaged (`unpack`, `tar_members`, `unzip`), if a member was named and the file is no archive, or if it is not clear
/// which member is the named one or the matrix (docs/use/run.md). The message lists what was found.
MatrixText matrix_text(Text file, const NamedInput& named);

}  // namespace ringside
