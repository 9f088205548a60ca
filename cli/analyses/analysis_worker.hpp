// SPDX-License-Identifier: BSD-3-Clause
// The process that runs one file of a user's analyses: it is started, told what to look at, and its lines become results
// and counts. Whatever it does, this side goes on: it only reads without waiting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/analyses/due_steps.hpp"
#include "cli/analyses/worker_line.hpp"
#include "cli/supervision/child.hpp"
#include "common/platform/error.hpp"

namespace ringside {

/// What became of one function.
struct AnalysisCounts {
  std::string name;
  std::uint64_t every = 1;
  std::uint64_t steps = 0;    // that it looked at, also if it returned None
  std::uint64_t skipped = 0;  // that were overwritten before or while it looked
  std::uint64_t failed = 0;   // in which it raised
  std::optional<double> last;  // its newest result; of several, the first
  StepPlace seen;              // up to where the three counts above are complete
};

/// What a worker is to look at.
struct FollowedRun {
  std::string run_id;  // hexadecimal digits
  StepPlace after;     // only later steps; its iteration: the last one before them, or 0
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
  /// Why its file cannot be used, once it has said so.
  const std::string& refusal() const noexcept { return refusal_; }
  /// What it wrote last, or how it ended: for a process that ended before it was ready.
  std::string last_words() const;

  void follow(const FollowedRun& run);
  void look_at_kept(std::uint64_t first, std::uint64_t last);
  /// No step comes any more: it ends when it has looked at those that are kept.
  void end();
  void kill() noexcept;

  using OnResults = std::function<void(const wire::AnalysisResults&)>;
  using OnText = std::function<void(const std::string&)>;
  /// Takes what it has written. on_text: a line of what the user's functions print, or of what became of the process.
  void take_in(const OnResults& on_results, const OnText& on_text);
  /// The same without its results: they wait in its pipe, and so does it.
  void take_in_text(const OnText& on_text);

  const std::vector<AnalysisCounts>& counts() const noexcept { return counts_; }
  /// Whether it has looked at everything that it was told to.
  bool is_done() const noexcept { return is_done_; }
  /// Why it ended early; empty: it did not.
  const std::string& stopped() const noexcept { return stopped_; }
  /// Of one that ended early: what each function would have looked at from there up to that step counts as skipped.
  void count_rest(const StepPlace& newest);
  /// The same of kept steps, which are these.
  void count_rest(const std::vector<StepPlace>& kept);
  /// Says that it did not end by itself; to be called before `kill`.
  void note_late(const std::string& why) { stopped_ = why; }

 private:
  void take(const WorkerLine& line, const OnResults& on_results);

  std::string file_;
  Child child_;
  bool has_package_ = false;
  bool is_ready_ = false;
  bool is_done_ = false;
  bool was_told_ = false;  // its end
  std::string refusal_;
  std::string stopped_;
  std::string last_text_;
  std::vector<AnalysisCounts> counts_;
};

}  // namespace ringside
