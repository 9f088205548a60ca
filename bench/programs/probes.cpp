// SPDX-License-Identifier: BSD-3-Clause
// The probes of caches: how often they are right about simulated hierarchies of random geometry, and what they say of
// this machine.
#include <cstdio>

#include <nlohmann/json.hpp>

#include "bench/programs/machine_header.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "memory/probe/real_memory.hpp"
#include "memory/probe/validation.hpp"

namespace ringside::bench {
namespace {

using nlohmann::json;

json simulated(int first_seed, int hierarchies) {
  const probe::Validation found = probe::validate(static_cast<std::uint64_t>(first_seed), hierarchies);
  json report = {
      {"hierarchies", found.hierarchies}, {"fully_right", found.fully_right}, {"with_wrong_answer", found.with_wrong}};
  for (const auto& [question, tally] : found.questions) {
    report["questions"][question] = {
        {"right", tally.right}, {"wrong", tally.wrong}, {"undetermined", tally.undetermined}};
  }
  report["not_right"] = found.failures;
  return report;
}

json this_machine() {
  probe::RealMemory memory;
  probe::ProbeChoice choice;
  choice.all_levels = true;
  const probe::ProbeReport found = probe::probe_memory(memory, choice);
  json report = {{"levels", found.levels}, {"memory_ns", found.memory_ns}, {"resolution_ns", memory.resolution_ns()}};
  for (const probe::Answer& answer : found.answers) {
    report["answers"].push_back({{"question", answer.question},
                                 {"level", answer.level},
                                 {"answer", answer.answer},
                                 {"confidence", answer.confidence},
                                 {"evidence", answer.evidence}});
  }
  return report;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  ringside::CommandLine line(
      "How often the probes of caches are right about simulated ones, and what they say here; as JSON", "bench_probes");
  int hierarchies = 100;
  int first_seed = 1;
  std::string output;
  line.option("--hierarchies", hierarchies, "Simulated hierarchies of random geometry")
      .check(ringside::whole_number_within(1, 100'000));
  line.option("--first-seed", first_seed, "Seed of the first one; the next has the next seed")
      .check(ringside::whole_number_within(1, 1 << 30));
  line.option("-o,--output", output, "File for the JSON (default: standard output)").value_name("FILE");
  if (const auto code = ringside::parse_or_exit_code(line, argc, argv)) return *code;
  try {
    using namespace ringside::bench;
    nlohmann::json report = {{"benchmark", "probes"}, {"machine", machine_header()}};
    report["simulated"] = simulated(first_seed, hierarchies);
    report["simulated"]["first_seed"] = first_seed;
    report["this_machine"] = this_machine();
    write_json(report, output);
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "probes: %s\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
