// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/analysis_workers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "cli/analyses/analysis_python.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/clock.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kLoadNs = 120'000'000'000;  // an import may compile something
constexpr std::int64_t kTellNs = 3'000'000'000;    // after this time a line names the file that is being imported
constexpr int kTickMs = 100;

/// Prints a line that a user's functions have printed, or a line about these functions.
void say(const std::string& file, const std::string& text) {
  write_standard_error(fmt::format("{}: {}\n", printable(file), printable(text)));
}

}  // namespace

AnalysisWorkers::AnalysisWorkers(const std::vector<std::string>& files, const std::string& pool,
                                 const std::string& python, std::size_t threads, StopSignals& signals) {
  std::string why_not;
  const std::vector<std::string> candidates = interpreters(python);
  for (const std::string& candidate : candidates) {
    if (!load(files, pool, candidate, threads, signals, why_not)) continue;
    check_names();
    std::size_t index = 0;
    for (const AnalysisWorker& worker : workers_) {
      for (const AnalysisCounts& counts : worker.counts()) outputs_[index].add_function(counts.name);
      ++index;
    }
    said_.resize(workers_.size());
    return;
  }
  throw Error(ExitCode::kSystem, no_package_text(candidates, printable(why_not)));
}

/// False if this interpreter cannot be started or lacks the package.
bool AnalysisWorkers::load(const std::vector<std::string>& files, const std::string& pool, const std::string& python,
                           std::size_t threads, StopSignals& signals, std::string& why_not) {
  workers_.clear();
  outputs_.clear();
  try {
    for (const std::string& file : files) {
      workers_.emplace_back(file, pool, python, threads);
      outputs_.emplace_back([file](const std::string& text) { say(file, text); });
    }
  } catch (const Error& error) {
    why_not = error.what();
    return false;
  }
  const std::int64_t begun_ns = now_ns();
  bool told = false;
  for (;;) {
    wait(signals, kTickMs, true);
    const AnalysisWorker* importing = nullptr;
    std::size_t index = 0;
    for (AnalysisWorker& worker : workers_) {
      AnalysisOutput& output = outputs_[index++];
      worker.take_in([](const wire::AnalysisResults&) {}, [&](const std::string& text) { output.show(text); });
      if (importing == nullptr && !worker.is_ready()) importing = &worker;
      if (!worker.refusal().empty()) throw Error(ExitCode::kUsage, printable(worker.refusal()));
      if (worker.is_ready() || worker.running()) continue;
      if (worker.has_package()) {
        throw usage_error("{}: its process {} during the import", worker.file(), worker.child().how_it_ended());
      }
      why_not = worker.last_words();
      return false;
    }
    if (importing == nullptr) return true;
    if (signals.take() != 0) throw Error(ExitCode::kInterrupted, "interrupted while analyses were imported");
    const std::int64_t waited_ns = now_ns() - begun_ns;
    if (waited_ns > kLoadNs) {
      throw usage_error(
          "{}: the import did not end within {} s; expected a file that only defines functions and does not wait",
          importing->file(), kLoadNs / 1'000'000'000);
    }
    if (waited_ns > kTellNs && !std::exchange(told, true)) {
      write_standard_error(fmt::format(
          "ringside: {} is still being imported after {} s (process {}); waiting for it, up to {} s\n",
          printable(importing->file()), kTellNs / 1'000'000'000, importing->child().pid(), kLoadNs / 1'000'000'000));
    }
  }
}

void AnalysisWorkers::check_names() const {
  std::map<std::string, std::string> file_of;
  for (const AnalysisWorker& worker : workers_) {
    for (const AnalysisCounts& counts : worker.counts()) {
      const auto [found, is_new] = file_of.emplace(counts.name, worker.file());
      if (!is_new) {
        throw usage_error("{}: the reduction '{}' is also in {}; expected each name once", worker.file(), counts.name,
                          found->second);
      }
    }
  }
  for (const auto& [name, file] : file_of) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      const auto found = file_of.find(name.substr(0, dot));  // with a result's key, this name could form the longer one
      if (found == file_of.end()) continue;
      throw usage_error(
          "{}: the reduction '{}' and '{}' in {} could both have a result analysis.{}; expected no name that begins "
          "with another name and a dot",
          file, name, found->first, found->second, name);
    }
  }
}

AnalysisWorkers::~AnalysisWorkers() {
  for (AnalysisWorker& worker : workers_) worker.kill();
}

void AnalysisWorkers::look_at_kept(std::uint64_t first, std::uint64_t last) {
  for (AnalysisWorker& worker : workers_) worker.look_at_kept(first, last);
}

void AnalysisWorkers::kill(const std::string& why) {
  for (AnalysisWorker& worker : workers_) {
    if (!worker.running()) continue;
    if (!worker.is_done()) worker.note_late(why);
    worker.kill();
  }
}

void AnalysisWorkers::count_rest(const StepPlace& newest) {
  for (AnalysisWorker& worker : workers_) worker.count_rest(newest);
}

void AnalysisWorkers::count_rest(const std::vector<StepPlace>& kept) {
  for (AnalysisWorker& worker : workers_) worker.count_rest(kept);
}

void AnalysisWorkers::take_lowest_priority() const noexcept {
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
  for (const AnalysisWorker& worker : workers_) {
    std::error_code ended;
    // All threads of the process get the priority, also those that a numerical library has started.
    const std::string threads = fmt::format("/proc/{}/task", worker.child().pid());
    for (const auto& thread : std::filesystem::directory_iterator(threads, ended)) {
      const auto id = whole_number(thread.path().filename().string());
      if (id) sched_setscheduler(static_cast<pid_t>(*id), SCHED_IDLE, &none);
    }
  }
}

bool AnalysisWorkers::any_running() const noexcept {
  return std::ranges::any_of(workers_, [](const AnalysisWorker& worker) { return worker.running(); });
}

bool AnalysisWorkers::any_busy() const noexcept {
  return std::ranges::any_of(workers_,
                             [](const AnalysisWorker& worker) { return worker.running() && !worker.is_done(); });
}

bool AnalysisWorkers::any_stopped() const noexcept {
  return std::ranges::any_of(workers_, [](const AnalysisWorker& worker) { return !worker.stopped().empty(); });
}

std::vector<std::string> AnalysisWorkers::all_failed() const {
  std::vector<std::string> failed;
  for (const AnalysisWorker& worker : workers_) {
    for (const AnalysisCounts& counts : worker.counts()) {
      if (counts.failed == 0 || counts.steps > 0) continue;
      const std::string calls = counts.failed == 1 ? "its only call" : fmt::format("each of its {} calls", counts.failed);
      failed.push_back(fmt::format("{}: {}: {} failed", worker.file(), counts.name, calls));
    }
  }
  return failed;
}

void AnalysisWorkers::wait(const StopSignals& signals, int timeout_ms, bool reads_results) {
  std::vector<pollfd> watched = {{signals.fd(), POLLIN, 0}};
  for (const AnalysisWorker& worker : workers_) {
    const Child& child = worker.child();
    if (reads_results && child.report_fd() >= 0) watched.push_back({child.report_fd(), POLLIN, 0});
    if (child.stderr_fd() >= 0) watched.push_back({child.stderr_fd(), POLLIN, 0});
    if (child.running()) watched.push_back({child.pidfd(), POLLIN, 0});
  }
  poll(watched.data(), watched.size(), timeout_ms);
}

void AnalysisWorkers::take_in(const AnalysisWorker::OnResults& on_results, bool reads_results) {
  std::size_t index = 0;
  for (AnalysisWorker& worker : workers_) {
    const auto on_text = [&](const std::string& text) { outputs_[index].show(text); };
    if (reads_results) {
      worker.take_in(on_results, on_text);
    } else {
      worker.take_in_text(on_text);
    }
    if (!worker.stopped().empty() && !said_[index]) {
      said_[index] = true;
      say(worker.file(), worker.stopped() + "; its analyses end here");
    }
    ++index;
  }
}

void AnalysisWorkers::take_in_rest(const AnalysisWorker::OnResults& on_results) {
  take_in(on_results, true);
  for (AnalysisOutput& output : outputs_) output.end();
}

Json AnalysisWorkers::to_json() const {
  Json all = Json::array();
  for (const AnalysisWorker& worker : workers_) {
    for (const AnalysisCounts& counts : worker.counts()) {
      all.push_back({{"name", counts.name},
                     {"file", worker.file()},
                     {"steps", counts.steps},
                     {"skipped", counts.skipped},
                     {"failed", counts.failed},
                     {"last", counts.last ? Json(*counts.last) : Json()},
                     {"ended", worker.stopped().empty() ? Json() : Json(worker.stopped())}});
    }
  }
  return all;
}

}  // namespace ringside
