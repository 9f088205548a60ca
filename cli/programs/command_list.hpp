// SPDX-License-Identifier: BSD-3-Clause
// The `ringside` commands of one program. Each program consists of main.cpp and a source file that CMake generates from
// own_commands.cpp.in.
#pragma once

#include <span>
#include <string_view>

#include "cli/subcommands.hpp"

namespace ringside {

struct OwnCommand {
  std::string_view name;
  SubcommandFunction* run;
};

struct OwnCommands {
  const char* program;  // the program's file name
  std::span<const OwnCommand> commands;
};

OwnCommands own_commands() noexcept;

}  // namespace ringside
