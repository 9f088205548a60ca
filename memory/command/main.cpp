// SPDX-License-Identifier: BSD-3-Clause
// ringside-memory: probes the memory, and runs programs with more memory than DRAM. Each subcommand has its own file.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/help/command_description.hpp"
#include "common/help/help_forms.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/program/program.hpp"
#include "memory/command/commands.hpp"

namespace ringside {
namespace {

constexpr std::string_view kDescription = "Probes the memory, and runs programs with more memory than DRAM.";

struct Subcommand {
  CommandSummary summary;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array kSubcommands = {
    Subcommand{{"probe", "[--json] [--what LIST] [--levels] [--simulate SPEC | --far DIR]",
                "find the caches in front of the memory by timing accesses"},
               probe_command},
    Subcommand{
        {"run", "--dram SIZE --far DIR [OPTIONS] -- PROGRAM ARGS...", "run a program with more memory than DRAM"},
        run_command},
};

/// Each subcommand prints its own part.
void print_other_form(const std::string& form) {
  std::vector<CommandSummary> summaries;
  for (const Subcommand& s : kSubcommands) summaries.push_back(s.summary);
  print_help_as(form, "ringside-memory", kDescription, summaries, [&form](const CommandSummary& summary) {
    const std::string name(summary.name), argument = "--help-as=" + form;
    const std::array<const char*, 2> arguments = {name.c_str(), argument.c_str()};
    for (const Subcommand& s : kSubcommands) {
      if (s.summary.name == summary.name) s.run(static_cast<int>(arguments.size()), arguments.data());
    }
  });
}

int dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--version" || name == "-V") {
    fmt::print("{}\n", version());
    return 0;
  }
  if (name == "--help" || name == "-h") {
    fmt::print("{}\n\nUsage: ringside-memory SUBCOMMAND [OPTIONS]\n\nSubcommands:\n", kDescription);
    for (const Subcommand& s : kSubcommands)
      fmt::print("  {:<8}{:<64}{}\n", s.summary.name, s.summary.arguments, s.summary.does);
    return 0;
  }
  std::string names;
  for (const Subcommand& s : kSubcommands) {
    if (s.summary.name == name) return s.run(argc - 1, argv + 1);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", s.summary.name);
  }
  if (std::vector<std::string> first{std::string(name)};
      const std::optional<std::string> form = take_help_form(first)) {
    print_other_form(*form);
    return 0;
  }
  throw usage_error("found subcommand '{}', expected one of {} (see ringside-memory --help)", name, names);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  return ringside::run_program([&] { return ringside::dispatch(argc, argv); });
}
