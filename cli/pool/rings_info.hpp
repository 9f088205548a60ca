// SPDX-License-Identifier: BSD-3-Clause
// `ringside info` of the rings of several nodes.
#pragma once

#include <string>

namespace ringside {

/// Prints what the rings hold that `path` names (names_rings). Returns the exit code: not 0 if one cannot be read.
int show_rings(const std::string& path, bool json);

}  // namespace ringside
