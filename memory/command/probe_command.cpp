// SPDX-License-Identifier: BSD-3-Clause
#include "memory/command/probe_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "memory/probe/cache_spec.hpp"
#include "memory/probe/real_memory.hpp"
#include "memory/probe/simulated_memory.hpp"

namespace ringside {

std::string probe_table(const probe::ProbeReport& report) {
  std::string text = fmt::format("{} levels of caches before the memory; memory never touched: {:.1f} ns\n",
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
  nlohmann::ordered_json json = {{"version", version()},
                                 {"memory_ns", report.memory_ns},
                                 {"levels", report.levels},
                                 {"remark", report.remark},
                                 {"answers", nlohmann::ordered_json::array()}};
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
  CommandLine line("Finds size, line, ways, prefetch, write policy and replacement of the caches before the memory.",
                   "ringside-memory probe");
  line.option("--what", what, "only these questions: size, line, ways, prefetch, write, replacement")
      .value_name("QUESTION,...")
      .comma_separated()
      .check(one_of({std::begin(probe::kQuestions), std::end(probe::kQuestions)}));
  line.flag("--levels", choice.all_levels, "answers about every level, not only the last one before the memory");
  line.option("--simulate", simulate,
              "ask simulated caches, such as 'size=32K,ways=8/size=1M,ways=16,replacement=random'")
      .value_name("SPEC");
  line.flag("--json", json, "one JSON object");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  if (!what.empty()) choice.questions = what;

  std::unique_ptr<probe::TimedMemory> memory;
  try {
    if (simulate.empty()) {
      memory = std::make_unique<probe::RealMemory>();
    } else {
      memory = std::make_unique<probe::SimulatedMemory>(probe::parse_cache_spec(simulate));
    }
  } catch (const std::invalid_argument& refusal) {
    throw usage_error("--simulate: {}", refusal.what());
  }
  const probe::ProbeReport report = probe::probe_memory(*memory, choice);
  fmt::print("{}", json ? probe_json(report) + "\n" : probe_table(report));
  return 0;
}

}  // namespace ringside
