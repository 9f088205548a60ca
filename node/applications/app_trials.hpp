// SPDX-License-Identifier: BSD-3-Clause
// Runs one program in all its memories and sizes, round after round, so that a slow minute of the machine affects every
// setting. The results of all runs of a size must be equal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "node/applications/app_figures.hpp"
#include "node/applications/app_settings.hpp"
#include "node/applications/app_table.hpp"
#include "node/model/node.hpp"

namespace ringside {

/// The folders of programs and of memory.
struct AppPlaces {
  std::vector<std::string> program_folders;  // searched before those of PATH
  std::string ringside_memory;               // the path; empty: not found
  Tier far;
  std::string timing;  // the timing of AppsOptions::timing
};

/// Looks for ringside-memory in the folders of the options, beside this program and in PATH. Throws Error as
/// folder_tier does.
AppPlaces app_places(const AppsOptions& options);

/// One size of one program in one memory.
struct AppSetting {
  AppPoint point;
  AppConfiguration configuration;
  std::uint64_t dram_bytes = 0;       // with a cache: the DRAM limit of all processes together
  std::uint64_t all_dram_bytes = 0;   // the memory of all processes with all data in DRAM
  std::vector<AppRun> runs;           // empty: `reason` is set
  std::string reason;                 // the reason for n/a, one clause
};

/// The reason why this program cannot use far memory without a cache here; empty if it can.
std::string why_not_in_place(const App& app, const AppPlaces& places);

/// The reason why this program cannot use Memory Mode here; empty if it can.
std::string why_not_cached(const App& app, const AppPlaces& places);

/// The missing programs of App::needs, separated by commas; empty if none is missing.
std::string missing_programs(const App& app, const AppPlaces& places);

/// The settings, by point and, for each point, by configuration. progress: takes one line. Files are in a new folder
/// below the system's temporary folder; this new folder is removed at the end. Throws Error: exit code 5 if a run's
/// result differs from that of the first run of its point, 130 after a signal that requests a stop.
std::vector<AppSetting> run_app(const App& app, const std::vector<AppPoint>& points,
                                const std::vector<AppConfiguration>& configurations, int repeats,
                                const AppPlaces& places, const std::function<void(const std::string&)>& progress);

}  // namespace ringside
