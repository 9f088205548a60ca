// ringside: one command, one file per subcommand. docs/architecture.md and `ringside help` list what each one does.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/doctor.hpp"
#include "cli/pool/export.hpp"
#include "cli/pool/info.hpp"
#include "cli/pool/replay.hpp"
#include "cli/pool/verify.hpp"
#include "cli/pool/wipe.hpp"
#include "cli/run/cache.hpp"
#include "cli/run/run.hpp"
#include "cli/watch/keygen.hpp"
#include "cli/watch/run_report.hpp"
#include "cli/watch/serve.hpp"
#include "cli/watch/stop.hpp"
#include "cli/watch/tail.hpp"
#include "common/help/help_forms.hpp"
#include "common/help/manual_page.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"
#include "common/platform/version.hpp"
#include "common/program/program.hpp"

namespace ringside {
namespace {

constexpr std::string_view kDescription =
    "Keeps every iterate of a running solver, analyses it beside the solver, and accounts for who waited.";

struct Subcommand {
  CommandSummary summary;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array kSubcommands = {
    Subcommand{{"run", "--matrix FILE|grid:SIDE|rmat:SCALE", "solve; keep, reduce and account for every iterate"},
               run_command},
    Subcommand{{"tail", "[--since S] [--json] [--once]", "follow the running service, with the past from the journal"},
               tail_command},
    Subcommand{{"stop", "[--socket PATH]", "end the run that is being served, as Ctrl-C would"}, stop_command},
    Subcommand{
        {"serve", "[--socket PATH] [--listen HOST:PORT]", "a web page and Prometheus metrics of the run beside it"},
        serve_command},
    Subcommand{{"report", "[POOL|SUMMARY.json] -o FILE.html", "one page about a run: account, waiting, residual"},
               report_command},
    Subcommand{{"info", "POOL", "what a pool holds: runs, iterations, slots, sizes, storage"}, info_command},
    Subcommand{{"verify", "POOL", "check every hash; says which slot and chunk is damaged"}, verify_command},
    Subcommand{{"replay", "POOL", "reduce the kept iterates again, compare with what was recorded"}, replay_command},
    Subcommand{{"export", "POOL --output FILE", "write a kept iterate as .npy, .csv or .mtx"}, export_command},
    Subcommand{{"wipe", "POOL", "overwrite every byte of a pool, then delete it"}, wipe_command},
    Subcommand{{"cache", "FILE|grid:SIDE|rmat:SCALE", "write a matrix's binary cache, mapped on the next start"},
               cache_command},
    Subcommand{{"keygen", "FOLDER [--client NAME]", "keys for following over the network"}, keygen_command},
    Subcommand{{"doctor", "[POOL|DIR]", "what this node offers, and what to change"}, doctor_command},
};

std::vector<CommandSummary> summaries() {
  std::vector<CommandSummary> summaries;
  for (const Subcommand& s : kSubcommands) summaries.push_back(s.summary);
  return summaries;
}

void print_usage(FILE* to) {
  fmt::print(to, "{}\n\nUsage: ringside SUBCOMMAND [OPTIONS]\n\nSubcommands:\n", kDescription);
  for (const CommandSummary& s : summaries()) fmt::print(to, "  {:<8}{:<38}{}\n", s.name, s.arguments, s.does);
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

/// Each subcommand prints its own part.
void print_help_as(const std::string& form) {
  print_help_as(form, "ringside", kDescription, summaries(), [&form](const CommandSummary& summary) {
    const std::string name(summary.name);
    const std::string flag = "--help-as=" + form;
    const std::array<const char*, 2> arguments = {name.c_str(), flag.c_str()};
    subcommand_named(name)->run(static_cast<int>(arguments.size()), arguments.data());
  });
}

int dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(stdout);
    return 0;
  }
  if (name == "--version") {
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
  return ringside::run_program([&] { return ringside::dispatch(argc, argv); });
}
