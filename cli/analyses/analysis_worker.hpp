// SPDX-License-Identifier: BSD-3-Clause
// The process that runs one file of a user's analyses. This class starts the process, sends it the steps to analyze,
// and turns the lines that it writes into results and counts. All reads and writes return without waiting, so the
// process cannot block the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/analyses/due_steps.hpp"
#include "cli/analyses/worker_line.hpp"
#include "cli/supervision/child.hpp"

namespace ringside {

/// The counts and newest result of one function.
struct AnalysisCounts {
  std::string name;
  std::uint64_t every = 1;
  std::uint64_t steps = 0;    // steps that the function analyzed, including those for which it returned None
  std::uint64_t skipped = 0;  // steps that were overwritten before or during the analysis
  std::uint64_t failed = 0;   // steps for which it raised an exception
  std::optional<double> last;  // the function's newest result; if it returned several values, the first one
  StepPlace seen;              // the three counts above include all steps up to this one
};

/// The run that a worker follows.
struct FollowedRun {
  std::string run_id;  // hexadecimal digits
  StepPlace after;     // only later steps are analyzed; after.iteration: that of the last step before these steps, or 0
};

class AnalysisWorker {
 public:
  /// Starts the file's process. Throws Error, exit code 3 if `python` cannot be executed.
  AnalysisWorker(const std::string& file, const std::string& pool, const std::string& python, std::size_t threads);

  const std::string& file() const noexcept { return file_; }
  const Child& child() const noexcept { return child_; }
  bool running() const noexcept { return child_.running(); }

  bool has_package() const noexcept { return has_package_; }  // Python has the package ringside
  bool is_ready() const noexcept { return is_ready_; }
  /// The reason why the file cannot be used; empty until the process has reported one.
  const std::string& refusal() const noexcept { return refusal_; }
  /// For a process that ended before it was ready: the last line that it wrote, or the way in which it ended.
  std::string last_words() const { return last_text_.empty() ? "its process " + child_.how_it_ended() : last_text_; }

  void follow(const FollowedRun& run);
  void look_at_kept(std::uint64_t first, std::uint64_t last);
  /// Informs the process that no further step will come. The process then analyzes the steps that are still kept, and
  /// ends.
  void end();
  void kill() noexcept;

  using OnResults = std::function<void(const wire::AnalysisResults&)>;
  using OnText = std::function<void(const std::string&)>;
  /// Reads the lines that the process has written. on_text: gets each line of its output streams.
  void take_in(const OnResults& on_results, const OnText& on_text);
  /// Reads lines like take_in, but leaves the results in the process's pipe, so that the process waits.
  void take_in_text(const OnText& on_text);

  const std::vector<AnalysisCounts>& counts() const noexcept { return counts_; }
  /// Whether the process has finished all steps that it was sent.
  bool is_done() const noexcept { return is_done_; }
  /// The reason why the process ended early; empty: it did not end early.
  const std::string& stopped() const noexcept { return stopped_; }
  /// For a process that ended early: for each function, counts as skipped the steps up to `newest` that the function
  /// would have analyzed.
  void count_rest(const StepPlace& newest);
  /// For a process that ended early: for each function, counts as skipped the kept steps of a pool that the function
  /// would have analyzed.
  void count_rest(const std::vector<StepPlace>& kept);
  /// Records why the process did not end by itself; call this function before `kill`.
  void note_late(const std::string& why) { stopped_ = why; }

 private:
  void take(const WorkerLine& line, const OnResults& on_results);

  std::string file_;
  Child child_;
  bool has_package_ = false;
  bool is_ready_ = false;
  bool is_done_ = false;
  bool was_told_ = false;  // the process was informed that no more steps come
  std::string refusal_;
  std::string stopped_;
  std::string last_text_;
  std::vector<AnalysisCounts> counts_;
};

}  // namespace ringside
