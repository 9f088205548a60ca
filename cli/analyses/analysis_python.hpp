// SPDX-License-Identifier: BSD-3-Clause
// Chooses the Python interpreter that runs a user's analyses, and the folder from which the interpreter imports the
// package ringside. If these programs are in a build tree or below an installation prefix other than /usr, the package
// of the same tree or prefix is used, so that the user need not set anything.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ringside {

/// The interpreters to try, in this order. given: --python; empty: python3 in PATH, then Debian's.
std::vector<std::string> interpreters(const std::string& given);

/// The environment variables to set for an interpreter. threads: how many threads a numerical library may use, unless
/// the user's environment sets that number; 0: no limit.
std::vector<std::pair<std::string, std::string>> interpreter_environment(std::size_t threads);

/// The error message for the case that no interpreter has the package. why: the message of the last interpreter tried.
std::string no_package_text(const std::vector<std::string>& tried, const std::string& why);

}  // namespace ringside
