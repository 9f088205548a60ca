// SPDX-License-Identifier: BSD-3-Clause
// A settings file with every key, its meaning and its default, generated from the same declarations as --help.
#pragma once

#include <string>

#include "common/help/command_description.hpp"

namespace ringside {

/// TOML for --config. A key that was given (by a flag, or in a file read by --config) appears with its value; any
/// other key appears in a comment, with its default.
std::string config_template(const CommandDescription& command);

}  // namespace ringside
