// SPDX-License-Identifier: BSD-3-Clause
// ringside: one command, one file per subcommand. docs/inside/architecture.md and `ringside help` describe each
// subcommand. Commands that a run does not need are in separate programs, which ringside starts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/programs/start.hpp"
#include "cli/subcommands.hpp"
#include "common/help/help_forms.hpp"
#include "common/help/manual_page.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/program/program.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::string_view kDescription =
    "Keeps every iterate of a running solver, analyses it beside the solver, and accounts for the time that each side "
    "waited.";

struct Subcommand {
  CommandSummary summary;
  SubcommandFunction* run;   // null: another program contains the command
  const char* program = "";  // the name of the other program (cli/programs)
};

SubcommandFunction help_command;

constexpr std::array kSubcommands = {
    Subcommand{
        {"run", "--matrix MATRIX | -- PROGRAM ARGS...", "run a solver, and keep, reduce and account for every iterate"},
        run_command},
    Subcommand{{"tail", "[--since S] [--json] [--once]", "follow a run step by step, with its past from the journal"},
               tail_command},
    Subcommand{{"stop", "[--socket PATH]", "end the run that an analyzer serves"}, stop_command},
    Subcommand{{"serve", "[--socket PATH] [--listen HOST:PORT]", "serve a web page and Prometheus metrics of a run"},
               nullptr,
               "ringside-serve"},
    Subcommand{{"report", "[POOL|SUMMARY.json] -o FILE.html",
                "write one page about a run: its account, which side waited, how the iterates changed"},
               nullptr,
               "ringside-serve"},
    Subcommand{{"compare", "A B [C...] [--json] [-o FILE.html]", "compare runs, and find where they begin to differ"},
               nullptr,
               "ringside-serve"},
    Subcommand{{"info", "POOL", "show what a pool holds: runs, iterations, slots, sizes, storage"}, info_command},
    Subcommand{{"verify", "POOL", "check every hash, and name damaged slots and chunks"}, verify_command},
    Subcommand{{"replay", "POOL", "reduce the kept iterates again, and compare with the recorded results"},
               replay_command},
    Subcommand{{"analyze", "POOL FILE.py", "run your functions on the steps that a pool keeps, or during a run"},
               nullptr,
               "ringside-analyses"},
    Subcommand{{"export", "POOL --output FILE",
                "write kept iterates or records for other programs: HDF5, Zarr, VTK, npy, ..."},
               nullptr,
               "ringside-export"},
    Subcommand{{"gather", "FOLDER --from HOST:POOL...", "copy the rings of all nodes of a run into one folder"},
               gather_command},
    Subcommand{{"thaw", "POOL", "let a run continue in a pool that a trigger has frozen"}, thaw_command},
    Subcommand{{"wipe", "POOL", "overwrite every byte of a pool, then delete it"}, wipe_command},
    Subcommand{{"cache", "FILE|grid:SIDE|rmat:SCALE", "write a matrix's binary cache, which later runs can map"},
               cache_command},
    Subcommand{{"calibrate", "[--matrix ...] [--memory DIR]", "measure this node, so that runs on it can be predicted"},
               nullptr,
               "ringside-plan"},
    Subcommand{{"plan", "--matrix FILE|grid:SIDE|rmat:SCALE | -- PROGRAM ARGS...",
                "predict or try a run on every split of the cores, and name the best split"},
               nullptr,
               "ringside-plan"},
    Subcommand{
        {"experiment", "NAME [--memory DIR]", "repeat a published measurement on this node"}, nullptr, "ringside-plan"},
    Subcommand{{"keygen", "FOLDER [--client NAME]", "make keys for following a run over the network"}, keygen_command},
    Subcommand{{"doctor", "[POOL|DIR]", "report what this node offers, and what to change"}, doctor_command},
    Subcommand{{"help", "[SUBCOMMAND]", "list the subcommands, or the options of one subcommand"}, help_command},
};

std::vector<CommandSummary> summaries() {
  std::vector<CommandSummary> summaries;
  for (const Subcommand& s : kSubcommands) summaries.push_back(s.summary);
  return summaries;
}

void print_usage(FILE* to) {
  fmt::print(to, "{}\n\nUsage: ringside SUBCOMMAND [OPTIONS]\n\nSubcommands:\n", kDescription);
  for (const CommandSummary& s : summaries()) fmt::print(to, "  {:<12}{:<38}{}\n", s.name, s.arguments, s.does);
  std::string codes;
  for (const ExitMeaning& exit : kExitMeanings) {
    codes += fmt::format("{}{} {}", codes.empty() ? "" : "; ", static_cast<int>(exit.code), exit.meaning);
  }
  fmt::print(to,
             "\nringside SUBCOMMAND --help lists a subcommand's options. ringside --version prints the version.\n"
             "Exit codes:\n{}\n",
             wrapped(codes, 120, "  "));
}

const Subcommand* subcommand_named(std::string_view name) {
  for (const Subcommand& s : kSubcommands) {
    if (s.summary.name == name) return &s;
  }
  return nullptr;
}

/// Prints the output of `ringside NAME ARGUMENT`.
int run_with(const Subcommand& subcommand, const std::string& argument) {
  const std::string name(subcommand.summary.name);
  if (subcommand.run == nullptr) {
    fmt::print("{}", output_of_program(subcommand.program, {"ringside", name, argument}));
    return 0;
  }
  const std::array<const char*, 2> arguments = {name.c_str(), argument.c_str()};
  return subcommand.run(static_cast<int>(arguments.size()), arguments.data());
}

int help_command(int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (const Subcommand& s : kSubcommands) names.emplace_back(s.summary.name);
  std::string name;
  CommandLine line("Lists the subcommands, or the options of one subcommand.", "ringside help");
  line.option("SUBCOMMAND", name, "the subcommand whose options are listed")
      .check(one_of(names))
      .value_name(fmt::format("{}", fmt::join(names, "|")));
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  if (!name.empty()) return run_with(*subcommand_named(name), "--help");
  print_usage(stdout);
  return 0;
}

/// Prints the help of all subcommands in a form such as man: each subcommand prints its own part.
void print_help_as(const std::string& form) {
  print_help_as(form, "ringside", kDescription, summaries(), [&form](const CommandSummary& summary) {
    run_with(*subcommand_named(summary.name), "--help-as=" + form);
  });
}

/// If another program contains the command, replaces this process by that program. Returns the Error if the program
/// cannot be started; null if no other program contains the command.
std::exception_ptr become_program_of_command(int argc, char** argv) noexcept {
  const Subcommand* subcommand = argc > 1 ? subcommand_named(argv[1]) : nullptr;
  return subcommand != nullptr && subcommand->run == nullptr ? become_program(subcommand->program, argv) : nullptr;
}

int dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h") {
    print_usage(stdout);
    return 0;
  }
  if (name == "--version" || name == "-V") {
    fmt::print("{}\n", version());
    return 0;
  }
  if (const Subcommand* subcommand = subcommand_named(name)) return subcommand->run(argc - 1, argv + 1);
  if (std::vector<std::string> first{std::string(name)};
      const std::optional<std::string> form = take_help_form(first)) {
    print_help_as(*form);
    return 0;
  }
  std::string names;
  for (const Subcommand& s : kSubcommands) names += fmt::format("{}{}", names.empty() ? "" : ", ", s.summary.name);
  throw usage_error("{}; expected one of {} (see ringside --help)",
                    argc > 1 ? fmt::format("unknown subcommand '{}'", shortened(name)) : "found no subcommand", names);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  const std::exception_ptr failure = ringside::become_program_of_command(argc, argv);
  return ringside::run_program([&] {
    if (failure) std::rethrow_exception(failure);
    return ringside::dispatch(argc, argv);
  });
}
