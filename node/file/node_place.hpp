// SPDX-License-Identifier: BSD-3-Clause
// Where the node file of this machine lies if nothing else is said: in the user's cache folder, since it can be
// measured again at any time (XDG Base Directory Specification).
#pragma once

#include <string>

namespace ringside {

/// $XDG_CACHE_HOME/ringside/node.json, or ~/.cache/ringside/node.json where that variable is not set to a full path.
/// Throws Error (exit code 3) if there is no home folder either.
std::string default_node_file();

/// Makes the folder of that file, and those above it, for this user alone (mode 0700), where they do not exist. Throws
/// Error (exit code 3).
void make_node_folder();

}  // namespace ringside
