// ringside: one command, one file a subcommand. What each does is in docs/architecture.md, and in `ringside help`.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "cli/cache.hpp"
#include "cli/doctor.hpp"
#include "cli/export.hpp"
#include "cli/info.hpp"
#include "cli/keygen.hpp"
#include "cli/replay.hpp"
#include "cli/run.hpp"
#include "cli/run_report.hpp"
#include "cli/serve.hpp"
#include "cli/stop.hpp"
#include "cli/tail.hpp"
#include "cli/verify.hpp"
#include "cli/wipe.hpp"
#include "common/error.hpp"
#include "common/program.hpp"

namespace ringside {
namespace {

struct Subcommand {
  std::string_view name;
  std::string_view arguments;
  std::string_view does;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array kSubcommands = {
    Subcommand{"run", "--matrix FILE|grid:SIDE|rmat:SCALE", "solve; keep, reduce and account for every iterate",
               run_command},
    Subcommand{"tail", "[--since S] [--json] [--once]", "follow the running service, with the past from the journal",
               tail_command},
    Subcommand{"stop", "[--socket PATH]", "end the run that is being served, as Ctrl-C would", stop_command},
    Subcommand{"serve", "[--socket PATH] [--listen HOST:PORT]",
               "a web page and Prometheus metrics of the run beside it", serve_command},
    Subcommand{"report", "[POOL|SUMMARY.json] -o FILE.html", "one page about a run: account, waiting, residual",
               report_command},
    Subcommand{"info", "POOL", "what a pool holds: runs, iterations, slots, sizes, storage", info_command},
    Subcommand{"verify", "POOL", "check every hash; says which slot and chunk is damaged", verify_command},
    Subcommand{"replay", "POOL", "reduce the kept iterates again, compare with what was recorded", replay_command},
    Subcommand{"export", "POOL --output FILE", "write a kept iterate as .npy, .csv or .mtx", export_command},
    Subcommand{"wipe", "POOL", "overwrite every byte of a pool, then delete it", wipe_command},
    Subcommand{"cache", "FILE|grid:SIDE|rmat:SCALE", "write a matrix's binary cache, mapped on the next start",
               cache_command},
    Subcommand{"keygen", "FOLDER [--client NAME]", "keys for following over the network", keygen_command},
    Subcommand{"doctor", "[POOL|DIR]", "what this node offers, and what to change", doctor_command},
};

void print_usage(FILE* to) {
  fmt::print(to,
             "Ringside keeps every iterate of a running solver, analyses it beside the solver, and accounts for who "
             "waited.\n\n"
             "Usage: ringside SUBCOMMAND [OPTIONS]\n\nSubcommands:\n");
  for (const Subcommand& s : kSubcommands) fmt::print(to, "  {:<8}{:<38}{}\n", s.name, s.arguments, s.does);
  fmt::print(to,
             "\nringside SUBCOMMAND --help lists a subcommand's options. ringside --version prints the version.\n"
             "Exit codes: 0 done, 2 usage or bad input, 3 the system lacks something, 4 a peer was lost,\n"
             "            5 data failed verification, 130 interrupted.\n");
}

int dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(stdout);
    return 0;
  }
  if (name == "--version") {
    fmt::print("{}\n", RINGSIDE_VERSION);
    return 0;
  }
  for (const Subcommand& s : kSubcommands) {
    if (s.name == name) return s.run(argc - 1, argv + 1);
  }
  if (name.empty()) {
    print_usage(stderr);
  } else {
    std::string names;
    for (const Subcommand& s : kSubcommands) names += fmt::format("{}{}", names.empty() ? "" : ", ", s.name);
    fmt::print(stderr, "ringside: unknown subcommand '{}'; expected one of {}\n", name, names);
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  return ringside::run_program([&] { return ringside::dispatch(argc, argv); });
}
