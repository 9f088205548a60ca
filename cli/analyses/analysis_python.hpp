// SPDX-License-Identifier: BSD-3-Clause
// Which Python runs a user's analyses, and where it finds the package ringside: in a build tree and below a prefix that
// belongs to these programs it is the package beside them, so that a user need set nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ringside {

/// The interpreters to try, in this order. given: --python; empty: python3 in PATH, then Debian's.
std::vector<std::string> interpreters(const std::string& given);

/// What is set in the environment of one. threads: that a numerical library may use, if the user's environment says
/// nothing; 0: as many as it likes.
std::vector<std::pair<std::string, std::string>> interpreter_environment(std::size_t threads);

/// One line: no interpreter has the package. why: what the last one that was tried said.
std::string no_package_text(const std::vector<std::string>& tried, const std::string& why);

}  // namespace ringside
