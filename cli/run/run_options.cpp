// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/run_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/files/standard_streams.hpp"
#include "common/journal/journal_files.hpp"
#include "common/options/option_checks.hpp"
#include "common/telemetry/key_folder.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {

void declare(CommandLine& line, RunOptions& options) {
  declare(line, options.mode);
  declare(line, options.solve, solver_choices(), MatrixOption::kRequiredWithoutProgram);
  declare(line, options.cores);
  OptionSet plan = line.options_of<RunOptions>("Cores");
  plan.option("--node", options.node_file,
              "with --cores auto: the node file (default: the file that `ringside calibrate` wrote for this machine)")
      .value_name("FILE");
  plan.flag(
      "--adapt", options.adapt,
      "with --cores auto: if steps take longer than planned, try the other --reduce mode, and keep the faster one");
  declare(line, options.publish);
  declare(line, options.peer);
  declare(line, options.ring);
  declare(line, options.journal);
  declare(line, options.telemetry);
  declare(line, options.reduce);
  declare(line, options.plug_ins);
  declare(line, options.triggers);
  OptionSet analyses = line.options_of<RunOptions>("Analyses");
  analyses
      .option("--analyze", options.analyze,
              "for each step, call the functions with @ringside.reduction of this Python file, in a separate process; "
              "may be given up to 16 times")
      .times(1, 16)
      .value_name("FILE.py");
  declare(line, options.analysis);
  line.option("--summary", options.summary, "write the account as one JSON object (-: to standard output)")
      .value_name("FILE.json");
  line.flag("--quiet", options.quiet, "print neither progress nor the closing table");
  OptionSet mpi = line.options_of<RunOptions>("Several ranks");
  mpi.option("--ranks", options.ranks,
             "use mpirun to start this many MPI ranks of PROGRAM, or of a built-in solver if there is no PROGRAM "
             "(docs/publish/mpi.md)")
      .check(whole_number_within(1, 1'000'000))
      .value_name("N");
  mpi.option("--hosts", options.hosts,
             "with --ranks: the file of nodes for mpirun's --hostfile (default: this node only)")
      .value_name("FILE");
  mpi.flag("--per-node", options.per_node,
           "for a command that mpirun or srun starts once for each rank: the first rank of each node starts the node's "
           "analyzer; %h in --pool is replaced by the node's name");
  mpi.option("--resume-from", options.resume_from,
             "with --ranks or --per-node: begin with the newest step in an earlier job's rings, given by their folder "
             "or ranks file. That job may have had other ranks and nodes. With --resume, pools that hold steps take "
             "precedence")
      .value_name("RINGS");
  line.option("--plan", options.plan, "with PROGRAM: make the trials of --cores auto, print them, and run nothing")
      .check(one_of({"text", "json"}))
      .value_name("FORM")
      .group("");
  line.declare_config_file();
  line.take_program(options.program);
}

std::string sibling(const char* program) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / program).string();
}

CorePlan cores_for(const RunOptions& options, std::optional<int> analyzer_threads) {
  const auto given = [](const char* flag, const std::string& text) -> std::optional<CoreList> {
    return text.empty() ? std::nullopt : std::optional(parse_core_list(text, flag));
  };
  CorePlan plan = plan_cores(given("--producer-cores", options.cores.producer_cores),
                             given("--analyzer-cores", options.cores.analyzer_cores), analyzer_threads);
  // The baseline uses the cores of both processes, unless the user chose its cores.
  if (options.mode == Mode::kDram && !plan.oversubscribed_one_core && options.cores.producer_cores.empty()) {
    plan.producer.insert(plan.producer.end(), plan.analyzer.begin(), plan.analyzer.end());
    std::sort(plan.producer.begin(), plan.producer.end());
  }
  return plan;
}

std::vector<KeptFile> kept_files(const CommandLine& line, const RunOptions& options) {
  std::vector<KeptFile> kept = {{"--matrix", named_input(options.solve.matrix).path},
                                {"--rhs", named_input(options.solve.rhs).path}};
  if (const std::optional<std::string> config = line.value_given("--config")) kept.push_back({"--config", *config});
  if (options.mode == Mode::kPipeline) {
    kept.push_back({"--pool", options.ring.pool});
    for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
      kept.push_back({"the journal of --pool", journal_log_path(options.ring.pool, log)});
    }
  }
  if (!options.telemetry.keys.empty()) {
    for (const std::string& file : server_key_files(options.telemetry.keys)) kept.push_back({"--telemetry-keys", file});
  }
  return kept;
}

void write_summary(const std::string& path, const std::vector<KeptFile>& kept, const Json& summary) {
  OutputFile file(path, "--summary", kept);
  // A path may contain bytes that are not UTF-8; the summary must be written nevertheless.
  file.write(summary.dump(2) + "\n");
  file.finish();
}

const char* no_core_to_lend(const RunOptions& options) noexcept {
  const bool lends = options.mode == Mode::kPipeline && options.publish.elastic;
  return lends ? "; --elastic has no core to lend there" : "";
}

bool report_death(const char* name, const Child& child) {
  if (!child.ended_unexpectedly()) return false;
  write_standard_error(fmt::format("ringside: the {} {}\n", name, child.how_it_ended()));
  return true;
}

}  // namespace ringside
