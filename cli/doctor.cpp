#include "cli/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/options.hpp"

namespace ringside {
namespace {

const char* json_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kNote: return "note";
    case Verdict::kProblem: break;
  }
  return "problem";
}

const char* table_name(Verdict verdict) {
  return verdict == Verdict::kOk ? "OK" : json_name(verdict);
}

Verdict worst(const std::vector<Finding>& findings) {
  Verdict verdict = Verdict::kOk;
  for (const Finding& finding : findings) verdict = std::max(verdict, finding.verdict);
  return verdict;
}

}  // namespace

std::vector<Finding> examine_node(const std::string& pool_or_dir, const std::string& root) {
  const Machine machine = read_machine();
  return {probe_kernel(root),    probe_cores(machine), probe_caches(machine), probe_instructions(),
          probe_frequency(root), probe_clock(root),    probe_memory(root),    probe_huge_pages(root),
          probe_limits(root),    probe_pmdk(),         probe_pmem(root),      probe_space(pool_or_dir),
          probe_dax(pool_or_dir)};
}

std::string doctor_table(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8}{:<14}{}\n", table_name(finding.verdict), finding.topic, finding.found);
    if (!finding.advice.empty()) text += fmt::format("{:<22}-> {}\n", "", finding.advice);
  }
  const auto with = [&findings](Verdict verdict) {
    return std::count_if(findings.begin(), findings.end(),
                         [verdict](const Finding& f) { return f.verdict == verdict; });
  };
  text += fmt::format("{} problems, {} notes\n", with(Verdict::kProblem), with(Verdict::kNote));
  return text;
}

std::string doctor_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json report = {{"version", RINGSIDE_VERSION}, {"verdict", json_name(worst(findings))}};
  for (const Finding& finding : findings) {
    nlohmann::ordered_json& entry = report["findings"][finding.topic];
    entry = {{"verdict", json_name(finding.verdict)}, {"found", finding.found}, {"advice", finding.advice}};
    for (const auto& [key, value] : finding.facts) {
      std::visit([&entry, &key = key](const auto& held) { entry[key] = held; }, value);
    }
  }
  // Names of folders and processors may hold any byte; a report is written all the same.
  return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

int doctor_command(int argc, const char* const* argv) {
  std::string place = "ringside.pool";
  bool json = false;
  CLI::App app("Says what this node offers a run, what stands in its way, and what to change.", "ringside doctor");
  app.add_option("PLACE", place, "the pool, or the folder it is to lie in")
      ->type_name("POOL|DIR")
      ->capture_default_str();
  app.add_flag("--json", json, "one JSON object");
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;

  const std::vector<Finding> findings = examine_node(place);
  fmt::print("{}", json ? doctor_json(findings) + "\n" : doctor_table(findings));
  return static_cast<int>(worst(findings) == Verdict::kProblem ? ExitCode::kSystem : ExitCode::kDone);
}

}  // namespace ringside
