// SPDX-License-Identifier: BSD-3-Clause
// Figures of a program's runs: the result and seconds from a run's output, the traffic of far memory from the run's
// account, and medians and spreads from all repeats. All functions are pure, except those that read the run's files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/applications/app_table.hpp"
#include "node/model/node.hpp"
#include "node/streams/counters.hpp"

namespace ringside {

/// The result of one run as a hash of 32 digits, and the seconds that the run printed.
struct AppOutcome {
  std::string result;
  std::optional<double> figure_s;  // the figure of App::figure
  std::string wrong;               // the reason why no result or no figure was found, one clause; else empty
};
AppOutcome outcome_of(const App& app, const std::string& printed_file, const std::string& output_file);

/// The lines of `text` from the first line that contains `begin` up to the line before the next one that contains
/// `end`, or up to the end of the text. Empty if no line contains `begin`.
std::string part_of(const std::string& text, std::string_view begin, std::string_view end);

/// The counters that `ringside-memory run` reports, over all processes of the run.
struct AppTraffic {
  double managed_bytes = 0;  // peak of the bytes in far memory or its cache
  double faults = 0;
  double read_bytes = 0;  // the bytes read from far memory
  double written_bytes = 0;
  double fault_s = 0;  // summed over all threads
};
/// The counters from an account of `ringside-memory run`; empty if the file is not such an account.
std::optional<AppTraffic> traffic_of(const std::string& account_file);
/// The counters from a summary of ringside run, which has no written_bytes.
std::optional<AppTraffic> traffic_of_summary(const std::string& summary_file);

/// One run that succeeded.
struct AppRun {
  double seconds = 0;  // the program's own figure, or the time of the whole run
  double wall_s = 0;
  double cpu_s = 0;
  double resident_bytes = 0;
  std::optional<AppTraffic> traffic;
  std::vector<CounterValue> counters;
};

/// The figures of all repeats of a setting.
struct AppFigures {
  Measured seconds;
  double wall_s = 0, cpu_s = 0;
  double resident_bytes = 0;  // the largest of all repeats
  std::optional<AppTraffic> traffic;
  std::vector<CounterValue> counters;  // medians
};
/// runs: at least one. A counter is n/a if any run lacks it.
AppFigures figures_of(const std::vector<AppRun>& runs);

/// The counter of that name, with its value or the reason why it has none.
const CounterValue& counter_of(const std::vector<CounterValue>& counters, std::string_view name);

/// Bytes per second between the memory controllers and DRAM; n/a unless both directions were counted.
CounterValue memory_bandwidth(const AppFigures& figures);

}  // namespace ringside
