// SPDX-License-Identifier: BSD-3-Clause
// Kills real processes at random instants, again and again, and checks after each kill what the user was promised: no
// acknowledged commit is lost, every bit is right, and no process waits indefinitely (docs/inside/crash_testing.md,
// "Kill loops").
#include <fmt/format.h>
#include <sys/prctl.h>

#include <deque>
#include <fstream>
#include <string>

#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/clock.hpp"
#include "common/program/program.hpp"
#include "tests/kill/lives.hpp"
#include "tests/kill/run_lives.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {
namespace {

struct Options {
  std::uint64_t kills = 200;
  double seconds = 60;
  std::uint64_t seed = 1;
  std::string json;
};

/// Prints the last lines of the processes' logs, because their folder is deleted when this program ends.
void print_logs(const std::string& folder) {
  constexpr std::size_t kLines = 20;
  for (const char* name : {"service.log", "run.log", "apart.log"}) {
    std::ifstream file(folder + "/" + name);
    std::deque<std::string> last;
    for (std::string line; std::getline(file, line);) {
      last.push_back(line);
      if (last.size() > kLines) last.pop_front();
    }
    for (const std::string& line : last) fmt::print("  {}: {}\n", name, line);
  }
}

int loop(const Options& options) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans become children of this process, so that it can wait for them
  // A service's threads are not pinned here, and there are more processes than cores.
  setenv("OMP_NUM_THREADS", "1", 1);
  const TemporaryFolder folder;
  // `ringside run` must make its socket folders in `folder`, where the tests look for them.
  unsetenv("XDG_RUNTIME_DIR");
  setenv("TMPDIR", folder.path().c_str(), 1);
  Surroundings at{.folder = folder.path(), .programs = RINGSIDE_BIN_DIR};
  std::mt19937_64 random(options.seed);
  fmt::print("kill_loop: seed {}\n", options.seed);

  RunsThatResume runs(at);
  Tally tally;
  const std::int64_t begin = now_ns();
  const auto elapsed_s = [begin] { return static_cast<double>(now_ns() - begin) * 1e-9; };
  while ((tally.all_kills() < options.kills || elapsed_s() < options.seconds) && tally.violations.empty()) {
    at.quiet_disk = tally.lives % 12 != 0;  // a round has three lives; one round of four syncs its pools
    runs.surround_with(at);
    live_as_a_service(at, random, 12, tally);
    if (tally.violations.empty()) runs.live(random, tally);
    if (tally.violations.empty()) runs.live_apart(random, tally);
  }

  fmt::print(
      "{:.0f} s, {} lives: {} SIGKILLs, {} checks of a pool at rest with {} iterates, {} killed runs done bit-equal\n",
      elapsed_s(), tally.lives, tally.all_kills(), tally.checks, tally.iterates_checked, tally.finished_runs);
  fmt::print(
      "  {} journals at rest, {} records compared with ring and followers; {} steps recorded, {} named as missing in "
      "{} gaps, {} gaps unnamed\n",
      tally.journals_checked, tally.records_compared, tally.steps_recorded, tally.steps_named, tally.gaps_named,
      tally.unnamed_gaps);
  for (const auto& [victim, count] : tally.kills) fmt::print("  {:>6}  {}\n", count, victim);
  for (const std::string& violation : tally.violations) fmt::print("VIOLATION: {}\n", violation);
  if (!tally.violations.empty()) print_logs(at.folder);
  if (!options.json.empty()) {
    bench::write_json({{"machine", bench::machine_header()},
                       {"benchmark", "kill_loop"},
                       {"seed", options.seed},
                       {"seconds", elapsed_s()},
                       {"lives", tally.lives},
                       {"signals", tally.all_kills() + tally.terms},
                       {"sigkills", tally.all_kills()},
                       {"sigkills_by_victim", tally.kills},
                       {"pools_checked", tally.checks},
                       {"iterates_checked", tally.iterates_checked},
                       {"killed_runs_finished", tally.finished_runs},
                       {"journals_checked", tally.journals_checked},
                       {"records_compared", tally.records_compared},
                       {"steps_recorded", tally.steps_recorded},
                       {"gaps_named", tally.gaps_named},
                       {"steps_named_as_missing", tally.steps_named},
                       {"unnamed_gaps", tally.unnamed_gaps},
                       {"sockets_left_behind", tally.sockets_left},
                       {"hangs", tally.hangs},
                       {"violations", tally.violations}},
                      options.json);
  }
  return tally.violations.empty() ? 0 : 1;
}

}  // namespace
}  // namespace ringside::testing

int main(int argc, char** argv) {
  ringside::testing::Options options;
  ringside::CommandLine line("Kills producers, analyzers and runs at random instants, and checks what they leave.",
                             "kill_loop");
  line.option("--kills", options.kills, "at least so many SIGKILLs").show_default();
  line.option("--seconds", options.seconds, "for at least so long").show_default();
  line.option("--seed", options.seed, "of the random instants").show_default();
  line.option("--json", options.json, "write the figures to this file").value_name("FILE");
  if (const auto code = ringside::parse_or_exit_code(line, argc, argv)) return *code;
  return ringside::run_program([&] { return ringside::testing::loop(options); });
}
