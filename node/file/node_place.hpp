// SPDX-License-Identifier: BSD-3-Clause
// The default place of this machine's node file: the user's cache folder, because the file's figures can be measured
// again at any time (XDG Base Directory Specification).
#pragma once

#include <string>

namespace ringside {

/// $XDG_CACHE_HOME/ringside/node.json; ~/.cache/ringside/node.json if that variable is not an absolute path. Throws
/// Error (exit code 3) if there is no home folder either.
std::string default_node_file();

/// Makes the missing folders of that file, for this user alone (mode 0700). Throws Error (exit code 3).
void make_node_folder();

}  // namespace ringside
