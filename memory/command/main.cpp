// SPDX-License-Identifier: BSD-3-Clause
// ringside-memory: what the memory is, and programs with more memory than DRAM. A subcommand is a file pair and a line.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/program/program.hpp"
#include "memory/command/probe_command.hpp"

namespace ringside {
namespace {

struct Subcommand {
  std::string_view name, arguments, does;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array kSubcommands = {
    Subcommand{"probe", "[--json] [--what LIST] [--levels] [--simulate SPEC | --far DIR]",
               "find the caches before the memory by timing it", probe_command},
};

int dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--version" || name == "-V") {
    fmt::print("{}\n", version());
    return 0;
  }
  if (name == "--help" || name == "-h") {
    fmt::print("Usage: ringside-memory SUBCOMMAND [OPTIONS]\n\nSubcommands:\n");
    for (const Subcommand& s : kSubcommands) fmt::print("  {:<8}{:<64}{}\n", s.name, s.arguments, s.does);
    return 0;
  }
  std::string names;
  for (const Subcommand& s : kSubcommands) {
    if (s.name == name) return s.run(argc - 1, argv + 1);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", s.name);
  }
  throw usage_error("found subcommand '{}', expected one of {} (see ringside-memory --help)", name, names);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  return ringside::run_program([&] { return ringside::dispatch(argc, argv); });
}
