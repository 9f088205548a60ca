// SPDX-License-Identifier: BSD-3-Clause
#include "node/applications/app_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <tuple>

#include "common/platform/error.hpp"
#include "common/program/program_folder.hpp"
#include "common/text/printable.hpp"
#include "node/applications/child_process.hpp"
#include "node/applications/work_folder.hpp"
#include "node/streams/tier_memory.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualFar = "/dev/shm";
// A run that takes longer is stopped, because a program that hangs must not stop the experiment.
constexpr double kPatienceS = 120;
constexpr double kPatienceTimes = 50;  // a multiple of the program's seconds in DRAM

/// The state that all runs of one program share.
class Trials {
 public:
  Trials(const App& app, const AppPlaces& places)
      : app_(app), places_(places), work_(fs::temp_directory_path().string()) {
    if (why_not_in_place(app, places).empty()) in_place_ = std::make_unique<WorkFolder>(places.far.path);
  }

  /// Adds a run to the setting, or sets the reason why the setting has no run.
  void run(AppSetting& setting, const AppSetting& all_dram) {
    const AppJob job = prepared(setting);
    const AppCommand command = app_.command(job);
    const std::string account = work_.file("account");
    std::error_code ignored;
    fs::remove(account, ignored);

    ChildCommand child;
    child.words = command.launcher;
    if (!child.words.empty()) child.words.front() = path_of_program(child.words.front(), places_.program_folders);
    child.words.push_back(path_of_program(command.program, places_.program_folders));
    if (setting.configuration.memory == AppMemory::kCached && !app_.caches_itself) {
      // All MPI processes share one account, and each process has its own part of the limit. If a script starts the
      // program, only the program itself has far memory.
      const bool processes = app_.workers == AppWorkers::kProcesses;
      const std::vector<std::string> before =
          words_of({places_.ringside_memory, places_.far.path,
                    setting.dram_bytes / static_cast<std::uint64_t>(processes ? job.workers : 1), account});
      child.words.insert(processes ? child.words.begin() : child.words.end() - 1, before.begin(), before.end());
    }
    child.words.insert(child.words.end(), command.arguments.begin(), command.arguments.end());
    child.environment = {fmt::format("OMP_NUM_THREADS={}", app_.workers == AppWorkers::kThreads ? job.workers : 1),
                         "LC_ALL=C", "PYTHONHASHSEED=0",
                         "RINGSIDE_FAR_TIMING=" + places_.timing};  // libringside_memory reads it; empty: no emulation
    child.folder = job.folder;
    child.output = work_.file("printed");
    child.messages = work_.file("messages");
    child.group = true;
    child.limit_s = kPatienceS + (all_dram.runs.empty() ? 0 : kPatienceTimes * all_dram.runs.front().wall_s);

    Counters counters;
    counters.start();
    const ChildEnd end = signals_.run(child);
    AppRun run;
    run.counters = counters.stop();
    if (!end.done()) {
      setting.reason = failure(end);
      return;
    }
    const AppOutcome outcome = outcome_of(app_, child.output, job.output);
    if (!outcome.wrong.empty()) {
      setting.reason = outcome.wrong;
      return;
    }
    expect_same(setting, outcome.result);
    run.wall_s = end.wall_s;
    run.cpu_s = end.cpu_s;
    run.seconds = outcome.figure_s.value_or(end.wall_s);
    run.resident_bytes = static_cast<double>(end.peak_resident_bytes);
    if (setting.configuration.memory == AppMemory::kCached) {
      run.traffic = app_.caches_itself ? traffic_of_summary(job.output) : traffic_of(account);
    }
    setting.runs.push_back(std::move(run));
  }

 private:
  AppJob prepared(const AppSetting& setting) {
    AppJob job;
    job.bytes = setting.point.bytes;
    job.workers = setting.point.workers;
    job.weak = setting.point.weak;
    job.folder = work_.file("run");
    job.output = work_.file("output");
    std::error_code ignored;
    fs::remove_all(job.folder, ignored);
    fs::remove(job.output, ignored);
    fs::create_directory(job.folder, ignored);
    if (setting.configuration.memory == AppMemory::kFarOnly && in_place_ != nullptr) job.in_place = in_place_->path();
    if (setting.configuration.memory == AppMemory::kCached && app_.caches_itself) {
      job.far = places_.far.path;
      job.dram_bytes = setting.dram_bytes;
    }
    if (app_.write_input == nullptr) return job;
    // Input for threads does not depend on their number. Input for processes does, because it divides the domain among
    // them.
    const int parts = app_.workers == AppWorkers::kProcesses ? job.workers : 1;
    job.input = work_.file(fmt::format("input-{}-{}", job.bytes, parts));
    if (!fs::exists(job.input)) {
      std::ofstream file(job.input, std::ios::binary);
      app_.write_input(job, file);
      if (!file.flush()) throw system_error("{}: cannot be written", job.input);
    }
    return job;
  }

  std::string failure(const ChildEnd& end) const {
    std::ifstream messages(work_.file("messages"));
    std::string line;
    const auto is_letter = [](unsigned char letter) { return std::isalnum(letter) != 0; };
    // Some programs print a line of dashes before their message.
    while (std::getline(messages, line) && std::none_of(line.begin(), line.end(), is_letter)) {
    }
    return line.empty() ? how_it_ended(end) : fmt::format("{}: {}", how_it_ended(end), shortened(line));
  }

  void expect_same(const AppSetting& setting, const std::string& result) {
    const AppPoint& point = setting.point;
    std::string& first = results_[{point.workers, point.bytes, point.weak}];
    if (first.empty()) first = result;
    if (first == result) return;
    throw damage_error("apps: {} of {} with {} worker(s), {}: found the result {}, expected that of the first run, {}",
                       app_.name, point.bytes, point.workers, to_string(setting.configuration), result, first);
  }

  const App& app_;
  const AppPlaces& places_;
  HeldSignals signals_;  // released after the folders have been removed
  WorkFolder work_;
  std::unique_ptr<WorkFolder> in_place_;
  std::map<std::tuple<int, std::uint64_t, bool>, std::string> results_;
};

std::uint64_t taken_in_dram(const App& app, const AppSetting& all_dram) {
  const auto processes = static_cast<double>(app.workers == AppWorkers::kProcesses ? all_dram.point.workers : 1);
  return static_cast<std::uint64_t>(all_dram.runs.front().resident_bytes * processes);
}

}  // namespace

AppPlaces app_places(const AppsOptions& options) {
  AppPlaces places;
  places.program_folders = options.program_folders;
  places.program_folders.push_back(program_folder().string());
  places.ringside_memory = path_of_program("ringside-memory", places.program_folders);
  places.far = folder_tier(options.far.empty() ? kUsualFar : options.far, "--far");
  places.timing = options.timing;
  if (!places.timing.empty() && places.far.kind == TierKind::kPageCache) {
    throw usage_error(
        "--timing: found {} on a disk, expected --far with a folder on tmpfs or DAX, where it is emulated",
        shortened(places.far.path));
  }
  return places;
}

std::string why_not_in_place(const App& app, const AppPlaces& places) {
  if (!app.in_place) return "this program cannot place its memory in a file";
  if (!places.timing.empty()) return "the emulation slows down copies, and far memory without a cache needs no copies";
  if (places.far.kind == TierKind::kPageCache) {
    return "far memory on a disk is read through the page cache, not in place";
  }
  return {};
}

std::string why_not_cached(const App& app, const AppPlaces& places) {
  if (app.caches_itself) return {};
  return places.ringside_memory.empty() ? "ringside-memory was not found beside ringside nor in PATH" : "";
}

std::string missing_programs(const App& app, const AppPlaces& places) {
  std::string missing;
  for (const std::string_view program : app.needs) {
    if (!path_of_program(std::string(program), places.program_folders).empty()) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", program);
  }
  return missing;
}

std::vector<AppSetting> run_app(const App& app, const std::vector<AppPoint>& points,
                                const std::vector<AppConfiguration>& configurations, int repeats,
                                const AppPlaces& places, const std::function<void(const std::string&)>& progress) {
  std::vector<AppSetting> settings;
  for (const AppPoint& point : points) {
    for (const AppConfiguration& configuration : configurations) {
      AppSetting setting{point, configuration, 0, 0, {}, {}};
      if (configuration.memory == AppMemory::kFarOnly) setting.reason = why_not_in_place(app, places);
      if (configuration.memory == AppMemory::kCached) setting.reason = why_not_cached(app, places);
      settings.push_back(std::move(setting));
    }
  }
  Trials trials(app, places);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t s = 0; s < settings.size(); ++s) {
      AppSetting& setting = settings[s];
      const AppSetting& all_dram = settings[s - s % configurations.size()];
      if (!setting.reason.empty()) continue;
      if (&setting != &all_dram && all_dram.runs.empty()) {
        setting.reason = "the program does not run with all its data in DRAM";
        continue;
      }
      if (progress) {
        progress(fmt::format("apps: {}, {} worker(s), {}, run {} of {}", app.name, setting.point.workers,
                             to_string(setting.configuration), repeat + 1, repeats));
      }
      if (repeat == 0 && &setting != &all_dram) {
        setting.all_dram_bytes = taken_in_dram(app, all_dram);
        if (setting.configuration.memory == AppMemory::kCached) {
          setting.dram_bytes = dram_limit(setting.configuration.dram, setting.all_dram_bytes);
        }
      }
      trials.run(setting, all_dram);
      if (!setting.reason.empty()) setting.runs.clear();
      if (repeat == 0 && &setting == &all_dram && !setting.runs.empty()) {
        setting.all_dram_bytes = taken_in_dram(app, setting);
      }
    }
  }
  return settings;
}

}  // namespace ringside
