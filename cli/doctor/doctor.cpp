// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "analyzer/pool/pool_device.hpp"
#include "cli/subcommands.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/text/printable.hpp"
#include "common/text/wrapped.hpp"

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

constexpr std::size_t kIndent = 22;  // width of the columns before a finding (verdict and topic)

}  // namespace

std::vector<Finding> examine_node(const std::string& pool_or_dir, const std::string& root) {
  const Machine machine = read_machine();
  const PoolDevice device = find_pool_device(pool_or_dir, root);
  std::vector<Finding> findings = {probe_kernel(root),   probe_cores(machine),   probe_caches(machine),
                                   probe_instructions(), probe_frequency(root),  probe_clock(root),
                                   probe_memory(root),   probe_huge_pages(root), probe_limits(root),
                                   probe_pmdk(),         probe_pmem(root)};
  if (has_pmem(root)) {
    findings.push_back(probe_dimms(root));
    findings.push_back(probe_bad_blocks(device, root));
  }
  findings.push_back(probe_space(pool_or_dir));
  findings.push_back(probe_dax(pool_or_dir, root));
  findings.push_back(probe_memory_mode(pool_or_dir));
  if (device.pmem) {
    findings.push_back(probe_persistence(device, root));
    if (device.pmem->mode == "fsdax") findings.push_back(probe_dax_pages(device));
  }
  findings.push_back(probe_numa(machine, device, root));
  findings.push_back(probe_ownership(pool_or_dir));
  findings.push_back(probe_pool_owner(pool_or_dir, root));
  findings.push_back(probe_service(root));
  return findings;
}

std::string doctor_table(const std::vector<Finding>& findings, std::size_t columns) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8}{:<14}{}\n", table_name(finding.verdict), finding.topic,
                        wrapped(printable(finding.found), kIndent, columns));
    if (!finding.advice.empty()) {
      text += fmt::format("{:<{}}-> {}\n", "", kIndent, wrapped(printable(finding.advice), kIndent + 3, columns));
    }
  }
  const auto with = [&findings](Verdict verdict) {
    return std::count_if(findings.begin(), findings.end(),
                         [verdict](const Finding& f) { return f.verdict == verdict; });
  };
  text += fmt::format("{} problems, {} notes\n", with(Verdict::kProblem), with(Verdict::kNote));
  return text;
}

std::string doctor_json(const std::vector<Finding>& findings) {
  Json report = {{"version", version()}, {"verdict", json_name(worst(findings))}};
  for (const Finding& finding : findings) {
    Json& entry = report["findings"][finding.topic];
    entry = {{"verdict", json_name(finding.verdict)}, {"found", finding.found}, {"advice", finding.advice}};
    for (const auto& fact : finding.facts) {
      std::visit([&](const auto& held) { entry[fact.first] = held; }, fact.second);
    }
  }
  // Names of folders and processors may contain bytes that are not UTF-8; the report must still be written.
  return report.dump(2);
}

int doctor_command(int argc, const char* const* argv) {
  std::string place = "ringside.pool";
  bool json = false;
  CommandLine line("Reports what this node offers a run, what would prevent or slow a run, and what to change.",
                   "ringside doctor");
  line.option("PLACE", place, "the pool file, or the folder in which it will be made")
      .value_name("POOL|DIR")
      .show_default();
  line.flag("--json", json, "print one JSON object");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  const std::vector<Finding> findings = examine_node(place);
  fmt::print("{}", json ? doctor_json(findings) + "\n" : doctor_table(findings, columns_of_output()));
  return static_cast<int>(worst(findings) == Verdict::kProblem ? ExitCode::kSystem : ExitCode::kDone);
}

}  // namespace ringside
