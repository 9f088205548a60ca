// SPDX-License-Identifier: BSD-3-Clause
// Explores power cuts for any length of time: each round runs every scenario, storage and model with a new seed, until
// at least --images images have been checked. If an image breaks a promise, the exit code is 5, and a printed line has
// the command that repeats the violation.
#include <fmt/format.h>
#include <omp.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "tests/crash/explorer.hpp"
#include "tests/crash/mutants.hpp"

namespace ringside::crash {
namespace {

struct Options {
  std::uint64_t images = 1'000'000;
  std::uint64_t seed = 1;
  std::string only;
  std::optional<std::uint64_t> event;
  bool quick = false;
  bool mutants = false;
  unsigned jobs = 1;
  std::string json;
};

struct Tally {
  std::string name;
  Exploration sum;
  std::optional<std::uint64_t> failed_seed;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One round explores each case once, with this seed.
void explore_round(const Options& options, std::uint64_t seed, const std::vector<Case>& cases,
                   std::vector<Tally>& tallies) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    omp_set_num_threads(1);
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      const Case& one = cases[i];
      const TracedScenario traced = one.scenario->trace(one.storage, one.durability, seed);
      const Exploration seen = explore(traced, one.model, true, options.quick ? kQuick : Depth{}, seed, options.event);
      Exploration& sum = tallies[i].sum;
      sum.events += seen.events;
      sum.images += seen.images;
      sum.images_in_recovery += seen.images_in_recovery;
      sum.continued += seen.continued;
      if (!seen.violation || sum.violation) continue;
      sum.violation = seen.violation;
      tallies[i].failed_seed = seed;
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned job = 1; job < options.jobs; ++job) threads.emplace_back(work);
  work();
}

Json explore_all(const Options& options, bool& broken) {
  std::vector<Case> cases;
  std::vector<Tally> tallies;
  for (const Case& one : all_cases()) {
    if (name_of(one).find(options.only) == std::string::npos) continue;
    cases.push_back(one);
    tallies.push_back({name_of(one), {}, {}});
  }
  if (cases.empty())
    throw usage_error("--only {}: no case of that name; `--only /` runs all, and lists them", options.only);

  const auto start = std::chrono::steady_clock::now();
  std::uint64_t rounds = 0;
  std::uint64_t images = 0;
  while (images < options.images && !broken) {
    explore_round(options, options.seed + rounds++, cases, tallies);
    images = 0;
    for (const Tally& tally : tallies) {
      images += tally.sum.images + tally.sum.images_in_recovery;
      broken = broken || tally.sum.violation.has_value();
    }
    if (options.event && images == 0) {
      throw usage_error("--event {}: nothing is stored or acknowledged there, or before the scenario; try the next one",
                        *options.event);
    }
    if (options.event) break;
  }
  const double elapsed = seconds_since(start);

  Json by_case = Json::object();
  fmt::print("{:<52} {:>9} {:>11} {:>13} {:>9}\n", "scenario/storage/durability/model", "moments", "images",
             "in recovery", "continued");
  std::size_t violations = 0;
  for (const Tally& tally : tallies) {
    const Exploration& sum = tally.sum;
    fmt::print("{:<52} {:>9} {:>11} {:>13} {:>9}\n", tally.name, sum.events, sum.images, sum.images_in_recovery,
               sum.continued);
    by_case[tally.name] = {{"moments", sum.events},
                           {"images", sum.images},
                           {"images_in_recovery", sum.images_in_recovery},
                           {"went_on", sum.continued}};
    if (!sum.violation) continue;
    ++violations;
    fmt::print(
        "VIOLATION {}: event {} ({}), image {}: invariant {}\n  again: crash_explorer --only {} --seed {} --event "
        "{}{}\n",
        tally.name, sum.violation->event, sum.violation->where, sum.violation->image, sum.violation->what, tally.name,
        *tally.failed_seed, sum.violation->event, options.quick ? " --quick" : "");
  }
  fmt::print("seed {}, {} rounds: {} images in {:.1f} s, {:.0f} a second, {} violations\n", options.seed, rounds,
             images, elapsed, static_cast<double>(images) / elapsed, violations);
  return {{"rounds", rounds}, {"images", images},         {"seconds", elapsed},
          {"cases", by_case}, {"violations", violations}, {"images_per_second", static_cast<double>(images) / elapsed}};
}

Json kill_all(const Options& options, bool& broken) {
  constexpr int kRounds = 20;
  Json kills = Json::array();
  for (const Mutant& mutant : mutants()) {
    for (const bool checksums : {true, false}) {
      const Checksums hidden = checksums ? Checksums::kOff : Checksums::kOn;
      if (mutant.checksums == hidden) continue;
      const Kill kill = try_to_kill(mutant, checksums, options.seed, kRounds);
      const char* with = checksums ? "on" : "off";
      fmt::print("{:<7} {:<48} checksums {:<3} {:>8} images  {}\n", kill.violation.empty() ? "ALIVE" : "killed",
                 mutant.fault, with, kill.images, kill.violation);
      broken = broken || kill.violation.empty();
      kills.push_back({{"fault", mutant.fault},
                       {"checksums", with},
                       {"scenario", mutant.scenario},
                       {"model", mutant.flips_bits ? "bit-flips" : std::string(to_string(mutant.model))},
                       {"killed", !kill.violation.empty()},
                       {"images", kill.images},
                       {"violation", kill.violation}});
    }
  }
  return kills;
}

int explore_as_asked(const Options& options) {
  Json document = {{"benchmark", "crash_images"},
                   {"machine", bench::machine_header()},
                   {"seed", options.seed},
                   {"depth", options.quick ? "quick" : "full"},
                   {"jobs", options.jobs}};
  bool broken = false;
  if (options.mutants) {
    document["mutants"] = kill_all(options, broken);
  } else {
    document["exploration"] = explore_all(options, broken);
  }
  if (!options.json.empty()) bench::write_json(document, options.json);
  return broken ? static_cast<int>(ExitCode::kDamaged) : 0;
}

}  // namespace
}  // namespace ringside::crash

int main(int argc, char** argv) {
  ringside::CommandLine line("Cuts the power at every store of the ring's protocol and reopens what is left",
                             "crash_explorer");
  ringside::crash::Options options;
  line.option("--images", options.images, "Look at so many images at least (whole rounds)").show_default();
  line.option("--seed", options.seed, "Of the first round; the next one takes the next").show_default();
  line.option("--only", options.only, "Cases whose name, scenario/storage/durability/model, contains this");
  line.option("--event", options.event, "Only this moment, as a violation names it; one round");
  line.flag("--quick", options.quick, "Fewer images a moment, as the tests do");
  line.flag("--mutants", options.mutants, "Break the protocol on purpose instead, and see whether it shows");
  line.option("--jobs", options.jobs, "Threads").check(ringside::whole_number_within(1, 256)).show_default();
  line.option("--json", options.json, "File for the figures").value_name("FILE");
  if (const auto code = ringside::parse_or_exit_code(line, argc, argv)) return *code;
  omp_set_num_threads(1);
  try {
    return ringside::crash::explore_as_asked(options);
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "crash_explorer: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
