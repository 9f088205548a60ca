// SPDX-License-Identifier: BSD-3-Clause
// The probes of caches: how often their results are right for simulated hierarchies of random geometry, for
// libringside_memory with several limits and granules, and for the line and the first level of this machine.
#include <fstream>

#include "bench/programs/bench_program.hpp"
#include "memory/probe/real_memory.hpp"
#include "memory/probe/validation.hpp"

namespace ringside::bench {
namespace {

Json to_json(const probe::Tally& tally) {
  return {{"right", tally.right}, {"wrong", tally.wrong}, {"undetermined", tally.undetermined}};
}

Json simulated(int first_seed, int hierarchies) {
  const probe::Validation found = probe::validate(static_cast<std::uint64_t>(first_seed), hierarchies);
  Json report = {
      {"hierarchies", found.hierarchies}, {"fully_right", found.fully_right}, {"with_wrong_answer", found.with_wrong}};
  for (const auto& [question, tally] : found.questions) report["questions"][question] = to_json(tally);
  report["not_right"] = found.failures;
  return report;
}

Json answers_of(const probe::ProbeReport& found) {
  Json answers = Json::array();
  for (const probe::Answer& answer : found.answers) {
    answers.push_back({{"question", answer.question},
                       {"level", answer.level},
                       {"answer", answer.answer},
                       {"confidence", answer.confidence},
                       {"evidence", answer.evidence}});
  }
  return answers;
}

Json library(const std::string& far_folder) {
  Json report = {{"cases", Json::array()}};
  int size_right = 0, line_right = 0, read_ahead_right = 0, with_wrong = 0;
  for (int i = 0; i < 12; ++i) {  // granules of 4, 16 and 64 KiB, limits of 3 and 8 MiB, without and with read-ahead
    const probe::LibraryChoice choice{far_folder, std::uint64_t{i / 2 % 2 == 0 ? 3U : 8U} << 20, 4096U << (2 * (i / 4)),
                                      i % 2 != 0};
    try {
      const probe::LibraryCase found = probe::probe_library(choice);
      size_right += found.is_right("size") ? 1 : 0;
      line_right += found.is_right("line") ? 1 : 0;
      read_ahead_right += found.is_right("prefetch") ? 1 : 0;
      with_wrong += found.no_answer_is_wrong() ? 0 : 1;
      report["cases"].push_back({{"dram_bytes", choice.dram_bytes},
                                 {"granule_bytes", choice.granule_bytes},
                                 {"read_ahead", choice.read_ahead},
                                 {"fault_ns", found.report.memory_ns},
                                 {"remark", found.report.remark},
                                 {"answers", answers_of(found.report)}});
    } catch (const probe::LibraryRefusal& refusal) {
      return {{"skipped", refusal.what()}};
    }
  }
  report["size_right"] = size_right;
  report["line_right"] = line_right;
  report["read_ahead_right"] = read_ahead_right;
  report["with_wrong_answer"] = with_wrong;
  return report;
}

// What the kernel reports about the first data cache: on a shared virtual machine, only the line and this size are
// known.
std::uint64_t first_level(const char* file) {
  std::ifstream text(std::string("/sys/devices/system/cpu/cpu0/cache/index0/") + file);
  std::uint64_t value = 0;
  std::string unit;
  text >> value >> unit;
  return unit == "K" ? value << 10 : value;
}

Json this_machine(int runs) {
  const std::uint64_t line_bytes = first_level("coherency_line_size"), size_bytes = first_level("size");
  probe::ProbeChoice choice;
  choice.all_levels = true;
  std::map<std::string, probe::Tally> tallies;
  Json report = {{"runs", runs}, {"sysfs_line_bytes", line_bytes}, {"sysfs_first_level_bytes", size_bytes}};
  for (int run = 0; run < runs; ++run) {
    probe::RealMemory memory;
    const probe::ProbeReport found = probe::probe_memory(memory, choice);
    const auto count = [&](const char* name, const char* question, int level, auto is_right) {
      probe::Tally& tally = tallies[name];
      for (const probe::Answer& answer : found.answers) {
        if (answer.question != question || answer.level != level || !answer.determined()) continue;
        ++(is_right(answer.value) ? tally.right : tally.wrong);
        return;
      }
      ++tally.undetermined;
    };
    count("line", "line", found.levels, [&](std::uint64_t value) { return value == line_bytes; });
    count("first_level_size", "size", 1,
          [&](std::uint64_t value) { return value * 100 >= size_bytes * 88 && value * 100 <= size_bytes * 112; });
    report["last_run"] = {{"levels", found.levels},
                          {"memory_ns", found.memory_ns},
                          {"resolution_ns", memory.resolution_ns()},
                          {"answers", answers_of(found)}};
  }
  for (const auto& [name, tally] : tallies) report[name] = to_json(tally);
  return report;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("probes",
                       "Measures how often the cache probes are right for simulated caches, and shows what they report "
                       "on this machine. Prints JSON.");
  int hierarchies = 100;
  int first_seed = 1;
  int machine_runs = 10;
  std::string far_folder = "/dev/shm";
  bool no_library = false;
  program.line.option("--hierarchies", hierarchies, "Simulated hierarchies of random geometry")
      .check(whole_number_within(0, 100'000));
  program.line.option("--first-seed", first_seed, "Seed of the first hierarchy; each following one has the next seed")
      .check(whole_number_within(1, 1 << 30));
  program.line.option("--machine-runs", machine_runs, "How often this machine is probed")
      .check(whole_number_within(0, 1'000));
  program.line.option("--far", far_folder, "Folder of far memory for libringside_memory")
      .value_name("FOLDER")
      .show_default();
  program.line.flag("--no-library", no_library, "Do not probe libringside_memory");
  return program.run(argc, argv, [&](Json& report) {
    report["simulated"] = simulated(first_seed, hierarchies);
    report["simulated"]["first_seed"] = first_seed;
    if (!no_library) report["library"] = library(far_folder);
    if (machine_runs > 0) report["this_machine"] = this_machine(machine_runs);
  });
}
