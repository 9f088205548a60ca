// SPDX-License-Identifier: BSD-3-Clause
// The main function of each program with some commands of `ringside`. Its arguments are those of `ringside` itself. The
// program requires a `ringside` of its own version, because the interface between the two is not stable.
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "cli/programs/command_list.hpp"
#include "cli/programs/start.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/program/program.hpp"
#include "common/program/program_folder.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// The version of the `ringside` that started this process. Removes the variable that contains this version, so that no
/// process started from here inherits it.
std::optional<std::string> take_started_by() {
  const char* given = std::getenv(kStartedBy);
  if (given == nullptr) return std::nullopt;
  std::string version = given;
  unsetenv(kStartedBy);
  return version;
}

std::string usages(const OwnCommands& own) {
  std::string text;
  for (const OwnCommand& command : own.commands) {
    if (!text.empty()) text += ", ";
    text += formatted("`ringside {}`", command.name);
  }
  return text;
}

int run_command_of(const OwnCommands& own, const std::optional<std::string>& started_by, int argc,
                   const char* const* argv) {
  if (!started_by) throw usage_error("{}: was not started by `ringside`; expected {}", own.program, usages(own));
  if (*started_by != version()) {
    throw system_error("{}: found version {}, expected {}, the version of the `ringside` that started it; {}",
                       printable(command_program(own.program).string()), version(), shortened(*started_by),
                       how_to_get_command_program(own.program));
  }
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const OwnCommand& command : own.commands) {
    if (command.name == name) return command.run(argc - 1, argv + 1);
  }
  throw usage_error("{}: found the command '{}', expected {}", own.program, shortened(name), usages(own));
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  const std::optional<std::string> started_by = ringside::take_started_by();
  return ringside::run_program(
      [&] { return ringside::run_command_of(ringside::own_commands(), started_by, argc, argv); });
}
