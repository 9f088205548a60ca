// SPDX-License-Identifier: BSD-3-Clause
// ringside-serve: the commands that make pages.
#include <array>

#include "cli/programs/command_list.hpp"

namespace ringside {

OwnCommands own_commands() noexcept {
  static constexpr std::array kCommands = {
      OwnCommand{"serve", serve_command},
      OwnCommand{"report", report_command},
      OwnCommand{"compare", compare_command},
  };
  return {"ringside-serve", kCommands};
}

}  // namespace ringside
