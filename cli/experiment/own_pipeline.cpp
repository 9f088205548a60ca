// SPDX-License-Identifier: BSD-3-Clause
#include "cli/experiment/own_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "common/json/json.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/program/program_folder.hpp"
#include "common/program/topology.hpp"
#include "node/applications/child_process.hpp"
#include "node/applications/work_folder.hpp"
#include "node/workloads/published_pipeline.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

struct OwnRun {
  Json summary;  // null: the run failed
  std::string reason;
};

std::string first_line_of_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  constexpr std::string_view kProgram = "ringside: ";
  return line.starts_with(kProgram) ? line.substr(kProgram.size()) : line;
}

OwnRun run_ringside(const std::vector<std::string>& arguments, const WorkFolder& folder, const HeldSignals& signals) {
  const std::string program = (program_folder() / "ringside").string();
  ChildCommand command;
  command.words = {program, "run"};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.messages = folder.file("messages");
  const ChildEnd end = signals.run(command);
  OwnRun run;
  if (!end.done()) {
    run.reason = fmt::format("the run failed: {}", first_line_of_file(command.messages));
    return run;
  }
  std::ifstream file(folder.file("summary.json"));
  run.summary = Json::try_parse(file);
  if (!run.summary.is_object()) run = {nullptr, "the run wrote no summary"};
  return run;
}

ResultTable empty_own_table(int iterations) {
  return {"ringside",
          fmt::format("Ringside's own run on the same matrix (without values): seconds in {} iterations", iterations),
          {{"memory", "ring in", "", 0},
           {"generation_threads", "generate", "threads", 0},
           {"analysis_threads", "analyze", "threads", 0},
           {"generation_s", "generation", "s", 4},
           {"generation_idle_s", "its idle", "s", 4},
           {"transfer_s", "transfer", "s", 4},
           {"commit_s", "commit", "s", 4},
           {"analysis_s", "analysis", "s", 4},
           {"analysis_idle_s", "its idle", "s", 4},
           {"total_s", "total", "s", 4},
           {"difference", "difference", "1e-15", 1}},
          {}};
}

/// The largest accepted relative difference between an element of our last iterate and of the published program's last
/// iterate. The bits may differ: our solver multiplies an element by 0.85 / entries before the sum; the published loop
/// multiplies it by 1 / entries, and the sum by 0.85. Both add positive numbers, so an iteration adds at most 12
/// roundings (2^-53) to the relative error of element i. An iteration keeps at most the share 1 - 0.15 / (n x_i) of the
/// largest earlier error; this share is 0.85 if x_i is the mean 1 / n. In this case, the accumulated error is at most
/// 12 / 0.15 * 1.1e-16 = 0.9e-14 for each of the two iterates. The limit includes a margin; it is not a proven bound.
constexpr double kMostDifference = 2e-14;

/// The largest relative difference of the pool's newest iterate from `expected`. The pool is in a folder below
/// `parent`. Throws Error: exit code 5 if the pool's iterate is damaged, is of another iteration, or differs too much.
double difference_from(const std::vector<double>& expected, const std::string& pool, const std::string& parent,
                       int iterations) {
  const RingReader reader = RingReader::open(pool);
  const Recovery recovery = reader.recover();
  std::vector<double> x(reader.ring().geometry().entries());
  if (recovery.kept.empty() || recovery.kept.back().header.iteration != static_cast<std::uint64_t>(iterations) ||
      x.size() != expected.size() || reader.read(recovery.kept.back(), x.data()).status != ReadStatus::kOk) {
    throw damage_error("ringside run in {}: found no intact iterate of iteration {} with {} rows", parent, iterations,
                       expected.size());
  }
  const Difference largest = largest_difference(x, expected);
  if (largest.relative > kMostDifference) {
    throw damage_error(
        "ringside run in {}: row {} of iteration {} is {}, but {} in the published loop; expected a relative "
        "difference of at most {}",
        parent, largest.row, iterations, x[largest.row], expected[largest.row], kMostDifference);
  }
  return largest.relative;
}

}  // namespace

void add_own_pipeline(const Surroundings& around, ExperimentResult& result) {
  const PipelineProblem problem = pipeline_problem(around);
  ResultTable table = empty_own_table(problem.iterations);
  const std::string parent = around.folders.empty() ? fs::temp_directory_path().string() : around.folders.front().path;
  const NotAvailable none{"two processes need two processors"};
  if (problem.cpus.size() < 2) table.rows.emplace_back(table.columns.size(), Cell(none));
  for (std::size_t analyzers = 1; analyzers < problem.cpus.size(); ++analyzers) {
    const std::size_t generators = problem.cpus.size() - analyzers;
    around.report(fmt::format("pipeline: ringside run, {} + {} threads", generators, analyzers));
    const HeldSignals signals;  // released after the folder has been removed
    const WorkFolder folder(parent);
    const auto list = [&](std::size_t first, std::size_t last) {
      std::vector<int> cpus(problem.cpus.begin() + static_cast<std::ptrdiff_t>(first),
                            problem.cpus.begin() + static_cast<std::ptrdiff_t>(last));
      std::sort(cpus.begin(), cpus.end());
      return to_string(CoreList{cpus});
    };
    const OwnRun run = run_ringside(
        {"--quiet", fmt::format("--matrix=grid:{}", problem.side), fmt::format("--iterations={}", problem.iterations),
         fmt::format("--passes={}", kPublishedPasses), "--durability=process", "--journal=off", "--telemetry=off",
         "--cores=topology", "--producer-cores=" + list(0, generators),
         "--analyzer-cores=" + list(generators, problem.cpus.size()), "--pool=" + folder.file("pool"),
         "--summary=" + folder.file("summary.json")},
        folder, signals);
    std::vector<Cell> row = {parent, generators, analyzers};
    for (const char* key :
         {"generate_s", "producer_idle_s", "transfer_s", "commit_s", "analyze_s", "analyzer_idle_s", "total_s"}) {
      const bool found = run.summary.is_object() && run.summary.contains(key) && run.summary.at(key).is_number();
      row.push_back(
          found ? Cell(run.summary.at(key).get<double>())
                : Cell(NotAvailable{run.reason.empty() ? fmt::format("the summary has no {}", key) : run.reason}));
    }
    row.push_back(
        run.summary.is_object()
            ? Cell(difference_from(result.last_iterate, folder.file("pool"), parent, problem.iterations) * 1e15)
            : Cell(NotAvailable{run.reason}));
    table.rows.push_back(std::move(row));
  }
  result.remarks.push_back(fmt::format(
      "difference: the largest relative difference between an element of Ringside's last iterate and the same element "
      "of the published loop. At most {} is accepted, because the two programs round at different places.",
      kMostDifference));
  result.tables.push_back(std::move(table));
}

}  // namespace ringside
