// SPDX-License-Identifier: BSD-3-Clause
// ringside-analyses: the command that calls the user's Python functions.
#include <array>

#include "cli/programs/command_list.hpp"

namespace ringside {

OwnCommands own_commands() noexcept {
  static constexpr std::array kCommands = {OwnCommand{"analyze", analyze_command}};
  return {"ringside-analyses", kCommands};
}

}  // namespace ringside
