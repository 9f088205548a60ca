// SPDX-License-Identifier: BSD-3-Clause
// The run and its analyzer as Prometheus metrics; prometheus-cpp writes the text. Names follow the conventions of
// Prometheus: base units, and _total for what only grows while one run lasts. A new run begins at zero, which
// Prometheus takes for a restart. The run's id is a label of ringside_run_info alone: otherwise each run would add a
// series to every metric.
#pragma once

#include <string>

#include "cli/history/run_history.hpp"
#include "cli/history/watched_run.hpp"

namespace ringside {

/// The text format, version 0.0.4.
std::string metrics_text(const RunHistory& history, const AnalyzerView& analyzer);

}  // namespace ringside
