// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "memory/command/commands.hpp"
#include "memory/probe/cache_spec.hpp"
#include "memory/probe/library_memory.hpp"
#include "memory/probe/real_memory.hpp"
#include "memory/probe/simulated_memory.hpp"

namespace ringside {
namespace {

std::unique_ptr<probe::TimedMemory> memory_of_library(const probe::LibraryChoice& choice) {
  try {
    return std::make_unique<probe::LibraryMemory>(choice);
  } catch (const probe::LibraryRefusal& refusal) {
    if (refusal.not_permitted()) throw system_error("--far: {}", refusal.what());
    throw usage_error("--far: {}", refusal.what());
  }
}

}  // namespace

std::string probe_table(const probe::ProbeReport& report) {
  std::string text = fmt::format("{} levels of caches in front of the memory; untouched memory: {:.1f} ns\n",
                                 report.levels, report.memory_ns);
  if (!report.remark.empty()) text += fmt::format("note: {}\n", report.remark);
  text += fmt::format("{:<13}{:<7}{:<32}{:<12}{}\n", "question", "level", "answer", "confidence", "evidence");
  for (const probe::Answer& answer : report.answers) {
    text += fmt::format("{:<13}{:<7}{:<32}{:<12.2f}{}\n", answer.question, answer.level, answer.answer,
                        answer.confidence, answer.evidence);
  }
  return text;
}

std::string probe_json(const probe::ProbeReport& report) {
  Json json = {{"version", version()},
               {"memory_ns", report.memory_ns},
               {"levels", report.levels},
               {"remark", report.remark},
               {"answers", Json::array()}};
  for (const probe::Answer& answer : report.answers) {
    json["answers"].push_back({{"question", answer.question},
                               {"level", answer.level},
                               {"answer", answer.answer},
                               {"value", answer.value},
                               {"confidence", answer.confidence},
                               {"evidence", answer.evidence}});
  }
  return json.dump(2);
}

int probe_command(int argc, const char* const* argv) {
  bool json = false;
  probe::ProbeChoice choice;
  std::vector<std::string> what;
  std::string simulate;
  probe::LibraryChoice library;
  std::uint64_t granule_bytes = 0;
  bool no_read_ahead = false;
  CommandLine line(
      "Finds the size, line, ways, prefetch, write policy and replacement of the caches in front of the memory.",
      "ringside-memory probe");
  line.option("--what", what, "answer only these questions: size, line, ways, prefetch, write, replacement")
      .value_name("QUESTION,...")
      .comma_separated()
      .check(one_of({std::begin(probe::kQuestions), std::end(probe::kQuestions)}));
  line.flag("--levels", choice.all_levels, "answer for every level, not only for the last one in front of the memory");
  line.option("--simulate", simulate,
              "probe simulated caches, such as 'size=32K,ways=8/size=1M,ways=16,replacement=random'")
      .value_name("SPEC");
  const Option far = line.option("--far", library.far_folder,
                                 "probe the software Memory Mode, in which DRAM caches a far file in this folder")
                         .value_name("FOLDER");
  line.option("--dram", library.dram_bytes, "DRAM limit of --far")
      .value_name("SIZE")
      .check(size_within(1 << 20, std::uint64_t{1} << 40, "1M to 1024G"))
      .show_default("16M")
      .needs(far);
  line.option("--granule", granule_bytes, "granule of --far, a power of two (default: chosen by the library)")
      .value_name("SIZE")
      .check(size_within(4096, 1 << 20, "4K to 1M"))
      .needs(far);
  line.flag("--no-read-ahead", no_read_ahead, "--far without read-ahead").needs(far);
  line.flag("--json", json, "print one JSON object");
  line.footer(
      "Each answer has a confidence from 0 to 1 and its evidence. If the data do not suffice, the answer is "
      "undetermined, with the reason.");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  if (!what.empty()) choice.questions = what;

  if (!simulate.empty() && !library.far_folder.empty())
    throw usage_error("--simulate: found together with --far, expected one of them");
  library.granule_bytes = static_cast<std::uint32_t>(granule_bytes);
  library.read_ahead = !no_read_ahead;

  std::unique_ptr<probe::TimedMemory> memory;
  try {
    if (!library.far_folder.empty()) {
      memory = memory_of_library(library);
    } else if (simulate.empty()) {
      memory = std::make_unique<probe::RealMemory>();
    } else {
      memory = std::make_unique<probe::SimulatedMemory>(probe::parse_cache_spec(simulate));
    }
  } catch (const std::invalid_argument& refusal) {
    throw usage_error("--simulate: {}", refusal.what());
  }
  probe::ProbeReport report;
  try {
    report = probe::probe_memory(*memory, choice);
  } catch (const probe::LibraryRefusal& refusal) {
    throw system_error("--far: {}", refusal.what());
  }
  fmt::print("{}", json ? probe_json(report) + "\n" : probe_table(report));
  return 0;
}

}  // namespace ringside
