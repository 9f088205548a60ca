// SPDX-License-Identifier: BSD-3-Clause
// `ringside analyze POOL FILE.py`: runs a user's analyses over the steps that a pool keeps, or while a run writes to
// the pool. `ringside run --analyze` also starts this command.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <vector>

#include "analyzer/pool/pool_file.hpp"
#include "cli/analyses/analysis_journal.hpp"
#include "cli/analyses/analysis_workers.hpp"
#include "cli/analyses/live_analysis.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "cli/watch/service.hpp"
#include "common/files/regular_file.hpp"
#include "common/files/standard_streams.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/thread.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/program/report.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

struct AnalyzeOptions {
  std::string pool;
  std::vector<std::string> files;
  AnalysisOptions analysis;
  std::string from;
  std::string to;
  bool json = false;
  std::string of_run;         // the socket of the run that started this command; empty: the user started it
  bool lowest_priority = false;
  int report_fd = -1;
};

/// Prints each step's results as they arrive.
class Output {
 public:
  explicit Output(bool as_json) : json_(as_json) {}

  void show(const wire::AnalysisResults& results) {
    if (json_) return show_json(results);
    std::string text = head_was_shown_ ? "" : fmt::format("{:>11}  {}\n", "iteration", "results");
    head_was_shown_ = true;
    text += fmt::format("{:>11} ", results.iteration());
    for (int i = 0; i < results.name_size(); ++i) text += fmt::format(" {} {}", results.name(i), results.value(i));
    write_standard_output(text + "\n");
  }

  void end(const Json& analyses, const std::string& note) {
    if (json_) {
      write_standard_output(dump({{"event", "end"}, {"analyses", analyses}, {"note", note}}));
      return;
    }
    for (const Json& one : analyses) write_standard_output(analysis_text(one) + "\n");
    if (!note.empty()) write_standard_output(printable(note) + "\n");
  }

 private:
  static std::string dump(const Json& object) { return object.dump() + "\n"; }

  void show_json(const wire::AnalysisResults& results) {
    Json values = Json::object();
    for (int i = 0; i < results.name_size(); ++i) values[results.name(i)] = results.value(i);  // NaN becomes null
    write_standard_output(dump({{"event", "results"},
                                {"iteration", results.iteration()},
                                {"step", results.step()},
                                {"commit_seq", results.commit_seq()},
                                {"results", values}}));
  }

  bool json_;
  bool head_was_shown_ = false;
};

std::vector<StepPlace> kept_steps(const std::string& pool, const IterationRange& range) {
  std::vector<StepPlace> steps;
  for (const KeptSlot& slot : RingReader::open(pool).recover().kept) {
    const StepPlace step{.commit_seq = slot.header.commit_seq, .iteration = slot.header.iteration};
    if (range.contains(step.iteration)) steps.push_back(step);
  }
  return steps;
}

/// Analyzes all kept steps of a pool without a writer. said: receives the line for the user about the journal.
ExitCode look_at_kept(const AnalyzeOptions& options, AnalysisWorkers& workers, StopSignals& signals, Output& output,
                      std::string& said) {
  std::vector<wire::AnalysisResults> found;
  const auto take = [&](const wire::AnalysisResults& results) {
    output.show(results);
    found.push_back(results);
  };
  const IterationRange range = parse_range(options.from, options.to);
  const std::vector<StepPlace> kept = kept_steps(options.pool, range);
  workers.look_at_kept(range.first, range.last);
  const auto timeout_ns = static_cast<std::int64_t>(options.analysis.timeout_s * 1e9);
  std::int64_t done_ns = 0;  // since when all processes have finished their steps and only have to end
  bool interrupted = false;
  while (workers.any_running()) {
    workers.wait(signals, 100, true);
    workers.take_in(take, true);
    if (done_ns == 0 && !workers.any_busy()) done_ns = now_ns();
    if (signals.take() != 0) {
      interrupted = true;
      workers.kill("interrupted");
    } else if (done_ns != 0 && now_ns() - done_ns > timeout_ns) {
      workers.kill({});  // threads or children that a function has left running can keep its process from ending
    }
  }
  workers.take_in_rest(take);
  workers.count_rest(kept);
  const Appending appending = try_to_append(options.pool, found);
  if (appending.code != ExitCode::kDone && !options.json) {
    said.clear();  // the failure's line is already on standard error
  } else if (!appending.failure.empty()) {
    said = fmt::format("not recorded: {}", appending.failure);
  } else if (appending.added > 0) {
    said = fmt::format("{} {} added to the journal of {}", counted(appending.added, "record"),
                       appending.added == 1 ? "was" : "were", options.pool);
  }
  if (appending.code != ExitCode::kDone) {
    write_standard_error(fmt::format("ringside: {} of analyses are not in the journal: {}\n",
                                     counted(found.size(), "result"), printable(appending.failure)));
  }
  return interrupted ? ExitCode::kInterrupted : appending.code;
}

/// Throws Error: exit code 2 if there is no such file, 3 if this process may not read it.
void check_script(const std::string& file) {
  const RegularFile opened = open_regular(file, O_RDONLY);
  if (opened.valid()) return;
  const bool is_usage = !opened.kind.empty() || errno == ENOENT;
  throw Error(is_usage ? ExitCode::kUsage : ExitCode::kSystem,
              formatted("{}: {}; expected a Python file with functions that have @ringside.reduction", file,
                        opened.why()));
}

/// Binds this process to the cores of the list; the processes that it starts inherit this binding. Returns the cores;
/// empty: not bound.
std::vector<int> bound_cores(const std::string& list) {
  if (list.empty()) return {};
  const std::vector<int> cpus = parse_core_list(list, "--analyze-cores").cpus;
  if (const int error = bind_calling_thread(cpus); error != 0) {
    throw system_error("--analyze-cores: {}: {}; expected cores of this machine that this process may use", list,
                       errno_text(error));
  }
  return cpus;
}

ExitCode analyze(const AnalyzeOptions& options) {
  parse_range(options.from, options.to);
  for (const std::string& file : options.files) check_script(file);
  const std::vector<int> cpus = bound_cores(options.analysis.cores);
  const bool is_ours = !options.of_run.empty();
  StopSignals signals;
  const std::optional<NewestKept> before = is_ours ? newest_kept(options.pool) : std::nullopt;
  if (!is_ours) RingReader::open(options.pool);  // a wrong pool is refused before Python starts
  Report report(options.report_fd);
  AnalysisWorkers workers(options.files, options.pool, options.analysis.python, cpus.size(), signals);
  report.write({{"event", "ready"}});
  if (options.lowest_priority) workers.take_lowest_priority();

  Output output(options.json);
  ExitCode code = ExitCode::kDone;
  std::string said;
  if (is_ours || has_owner(options.pool)) {
    const std::string socket = is_ours ? options.of_run : socket_of_pool(options.pool).socket;
    if (socket.empty()) {
      write_standard_error(fmt::format(
          "ringside: no analyzer of {} accepts results (its --telemetry is off, or it belongs to another user). The "
          "results are printed now, and are recorded when no analyzer uses the pool any longer.\n",
          printable(options.pool)));
    }
    const LiveRun run{
        .pool = options.pool, .socket = socket, .is_ours = is_ours, .timeout_s = options.analysis.timeout_s};
    LiveAnalysis live(run, before, workers, signals);
    code = live.follow([&](const wire::AnalysisResults& results) {
      if (!is_ours) output.show(results);
    });
  } else {
    code = look_at_kept(options, workers, signals, output, said);
  }
  report.write({{"event", "final"}, {"analyses", workers.to_json()}});
  if (!is_ours) output.end(workers.to_json(), said);
  // In a run of `ringside run`, the account reports the failed functions.
  const std::vector<std::string> failed = is_ours ? std::vector<std::string>() : workers.all_failed();
  for (const std::string& one : failed) {
    write_standard_error(fmt::format("ringside: {}; this reduction has no results\n", printable(one)));
  }
  if (code != ExitCode::kDone) return code;
  return workers.any_stopped() || !failed.empty() ? ExitCode::kUsage : ExitCode::kDone;
}

}  // namespace

int analyze_command(int argc, const char* const* argv) {
  AnalyzeOptions options;
  CommandLine line(
      "Runs your functions on the steps that a pool keeps. While a run writes the pool, it also runs them on each new\n"
      "step, until the run ends. FILE.py registers the functions with @ringside.reduction. The results are printed\n"
      "and added to the journal beside the pool.",
      "ringside analyze");
  line.option("POOL", options.pool, "pool file, or its ranks file").required().value_name("FILE");
  line.option("SCRIPT", options.files,
              "Python files with functions that are called for each step; each file gets a process of its own")
      .required()
      .times(1, 16)
      .value_name("FILE.py");
  line.option("--from", options.from, "if no run is active: first iteration (default: the oldest kept)")
      .value_name("K");
  line.option("--to", options.to, "if no run is active: last iteration (default: the newest kept)").value_name("K");
  declare(line, options.analysis);
  line.flag("--json", options.json,
            "print one line of JSON for each step and analysis, and a last line with the totals");
  line.option("--of-run", options.of_run, "the socket of the run that started this command").value_name("PATH").group("");
  line.flag("--lowest-priority", options.lowest_priority, "run only on cores that are otherwise idle").group("");
  line.option("--report-fd", options.report_fd, "write lines of JSON about this process to this descriptor")
      .value_name("FD")
      .group("");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  if (options.of_run.empty()) options.pool = one_pool_of(options.pool);
  return static_cast<int>(analyze(options));
}

}  // namespace ringside
