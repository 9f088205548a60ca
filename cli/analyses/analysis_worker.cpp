// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/analysis_worker.hpp"

#include <csignal>
#include <utility>

#include "cli/analyses/analysis_python.hpp"
#include "common/json/json.hpp"

namespace ringside {
namespace {

std::string line_of(const Json& command) {
  return command.dump_sorted() + "\n";
}

}  // namespace

AnalysisWorker::AnalysisWorker(const std::string& file, const std::string& pool, const std::string& python,
                               std::size_t threads)
    : file_(file),
      child_(Interpreter{.words = {python, "-m", "ringside.analyze", file, pool},
                         .environment = interpreter_environment(threads)}) {}

void AnalysisWorker::follow(const FollowedRun& run) {
  for (AnalysisCounts& counts : counts_) counts.seen = run.after;
  child_.tell(line_of({{"run", run.run_id}, {"after", run.after.commit_seq}, {"iteration", run.after.iteration}}));
}

void AnalysisWorker::look_at_kept(std::uint64_t first, std::uint64_t last) {
  child_.tell(line_of({{"run", nullptr}, {"from", first}, {"to", last}}));
}

void AnalysisWorker::end() {
  if (!std::exchange(was_told_, true)) child_.tell(line_of({{"end", 1}}));
}

void AnalysisWorker::kill() noexcept {
  child_.signal(SIGKILL);
}

void AnalysisWorker::take_in(const OnResults& on_results, const OnText& on_text) {
  child_.reap();  // before reading, so that the reads below get everything that an ended process wrote
  child_.read_report([&](const std::string& text) {
    const std::optional<WorkerLine> line = parse_worker_line(text);
    if (line) return take(*line, on_results);
    if (!stopped_.empty()) return;
    stopped_ = "wrote to a descriptor that is not its own";  // only the user's code can have written it
    kill();
  });
  take_in_text(on_text);
  if (child_.running() || is_done_ || !is_ready_ || !stopped_.empty()) return;
  stopped_ = child_.how_it_ended();
}

void AnalysisWorker::take_in_text(const OnText& on_text) {
  child_.reap();
  child_.read_stderr([&](const std::string& text) {
    last_text_ = text;
    if (has_package_) on_text(text);  // earlier text is Python's own, maybe from an interpreter that will not be used
  });
}

void AnalysisWorker::take(const WorkerLine& line, const OnResults& on_results) {
  switch (line.says) {
    case WorkerSays::kHello: has_package_ = true; return;
    case WorkerSays::kReady:
      for (const NamedAnalysis& one : line.analyses) counts_.push_back({.name = one.name, .every = one.every, .last = {}, .seen = {}});
      is_ready_ = true;
      return;
    case WorkerSays::kRefused: refusal_ = line.why; return;
    case WorkerSays::kStopped: stopped_ = line.why; return;
    case WorkerSays::kEnd:
      for (std::size_t i = 0; i < std::min(counts_.size(), line.all_skipped.size()); ++i) {
        counts_[i].skipped = line.all_skipped[i];
      }
      is_done_ = true;
      return;
    default: break;
  }
  if (line.analysis >= counts_.size()) return;
  AnalysisCounts& counts = counts_[line.analysis];
  counts.skipped = line.results.skipped();
  counts.seen = {.commit_seq = line.results.commit_seq(), .iteration = line.results.iteration()};
  if (line.says == WorkerSays::kFailed) {
    ++counts.failed;
    return;
  }
  ++counts.steps;
  if (line.says != WorkerSays::kResult) return;
  counts.last = line.results.value(0);
  on_results(line.results);
}

void AnalysisWorker::count_rest(const StepPlace& newest) {
  if (is_done_) return;
  for (AnalysisCounts& counts : counts_) {
    counts.skipped += due_steps(counts.seen, newest, counts.every);
    counts.seen = newest;
  }
}

void AnalysisWorker::count_rest(const std::vector<StepPlace>& kept) {
  if (is_done_) return;
  for (AnalysisCounts& counts : counts_) {
    for (const StepPlace& step : kept) {
      if (step.commit_seq > counts.seen.commit_seq && step.iteration % counts.every == 0) ++counts.skipped;
    }
  }
}

}  // namespace ringside
