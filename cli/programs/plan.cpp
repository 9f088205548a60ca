// SPDX-License-Identifier: BSD-3-Clause
// ringside-plan: the commands that measure a node and predict runs on it.
#include <array>

#include "cli/programs/command_list.hpp"

namespace ringside {

OwnCommands own_commands() noexcept {
  static constexpr std::array kCommands = {
      OwnCommand{"calibrate", calibrate_command},
      OwnCommand{"plan", plan_command},
      OwnCommand{"experiment", experiment_command},
  };
  return {"ringside-plan", kCommands};
}

}  // namespace ringside
