// SPDX-License-Identifier: BSD-3-Clause
// Damages pools and journals in thousands of ways, and runs every command that reads the damaged files. No command may
// crash, hang or end with an undocumented exit code, and every iterate that a command returns must be bit-equal to an
// iterate of the run (docs/inside/crash_testing.md).
#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/clock.hpp"
#include "common/program/program.hpp"
#include "tests/tamper/readers.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {
namespace {

struct Options {
  std::uint64_t cases = 240;
  std::uint64_t seed = 1;
  std::uint64_t only = 0;  // runs only the case with this number; 0: all cases
  bool all_readers = false;
  int jobs = 2;
  std::string json;
};

/// Runs each case whose number modulo the number of jobs is `job`.
Findings work(const Options& options, const std::vector<Specimen>& specimens, const std::string& folder, int job) {
  std::filesystem::create_directory(folder);
  const std::string pool = folder + "/damaged.pool";
  Findings findings;
  for (std::uint64_t number = 1; number <= options.cases; ++number) {
    if (number % static_cast<std::uint64_t>(options.jobs) != static_cast<std::uint64_t>(job)) continue;
    if (options.only != 0 && number != options.only) continue;
    std::mt19937_64 random(options.seed * 1'000'003 + number);
    // The journal of the last specimen is large and takes time, so this specimen is used rarely.
    const std::size_t of = number % 20 == 0 ? specimens.size() - 1 : number % (specimens.size() - 1);
    Files files = specimens[of].files;
    const Damage damaged = damage(files, specimens, of, random);
    write_files(pool, files);
    const std::size_t violations = findings.violations.size();
    read_damaged({RINGSIDE_BIN_DIR, folder}, pool, damaged, options.all_readers, random, findings);
    ++findings.cases[damaged.kind];
    for (std::size_t i = violations; i < findings.violations.size(); ++i) {
      fmt::print("VIOLATION: seed {}, case {}: {}\n", options.seed, number, findings.violations[i]);
    }
  }
  return findings;
}

int tamper(const Options& options) {
  setenv("OMP_NUM_THREADS", "1", 1);
  const TemporaryFolder folder;
  unsetenv("XDG_RUNTIME_DIR");
  setenv("TMPDIR", folder.path().c_str(), 1);
  const std::vector<Specimen> specimens = make_specimens(folder.path(), RINGSIDE_BIN_DIR);
  Findings findings;
  std::mutex together;
  const std::int64_t begin = now_ns();
  {
    std::vector<std::jthread> jobs;
    for (int job = 0; job < options.jobs; ++job) {
      jobs.emplace_back([&, job] {
        const Findings found = work(options, specimens, folder.path() + "/job-" + std::to_string(job), job);
        const std::lock_guard lock(together);
        findings.add(found);
      });
    }
  }
  const double seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  fmt::print(
      "{:.0f} s, {} cases, {} processes: {} crashes, {} hangs, {} undocumented exit codes; iterates: {} bit-equal, {} "
      "refused, {} wrong; records: {} equal, {} wrong\n",
      seconds, findings.all_cases(), findings.processes, findings.crashes, findings.hangs, findings.undocumented,
      findings.iterates_equal, findings.iterates_refused, findings.iterates_wrong, findings.records_equal,
      findings.records_wrong);
  if (!options.json.empty()) {
    bench::write_json({{"machine", bench::machine_header()},
                       {"benchmark", "tamper"},
                       {"seed", options.seed},
                       {"seconds", seconds},
                       {"cases", findings.all_cases()},
                       {"cases_by_kind", findings.cases},
                       {"processes", findings.processes},
                       {"exit_codes_by_command", findings.exits},
                       {"crashes", findings.crashes},
                       {"hangs", findings.hangs},
                       {"undocumented_exit_codes", findings.undocumented},
                       {"iterates_bit_equal", findings.iterates_equal},
                       {"iterates_refused", findings.iterates_refused},
                       {"iterates_wrong", findings.iterates_wrong},
                       {"records_equal", findings.records_equal},
                       {"records_wrong", findings.records_wrong},
                       {"violations", findings.violations}},
                      options.json);
  }
  return findings.violations.empty() ? 0 : 1;
}

}  // namespace
}  // namespace ringside::testing

int main(int argc, char** argv) {
  ringside::testing::Options options;
  ringside::CommandLine line("Damages pools and journals, and lets every reader loose on them.", "tamper");
  line.option("--cases", options.cases, "how many").show_default();
  line.option("--seed", options.seed, "of the damage").show_default();
  line.option("--only", options.only, "one case of them, by its number");
  line.flag("--all-readers", options.all_readers, "each command and each iteration in each case");
  line.option("--jobs", options.jobs, "so many cases at a time")
      .show_default()
      .check(ringside::whole_number_within(1, 64));
  line.option("--json", options.json, "write the figures to this file").value_name("FILE");
  if (const auto code = ringside::parse_or_exit_code(line, argc, argv)) return *code;
  return ringside::run_program([&] { return ringside::testing::tamper(options); });
}
