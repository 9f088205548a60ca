// SPDX-License-Identifier: BSD-3-Clause
// ringside-export: the command that writes files for other programs. Only it needs the libraries for their formats.
#include <array>

#include "cli/programs/command_list.hpp"

namespace ringside {

OwnCommands own_commands() noexcept {
  static constexpr std::array kCommands = {OwnCommand{"export", export_command}};
  return {"ringside-export", kCommands};
}

}  // namespace ringside
