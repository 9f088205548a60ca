// SPDX-License-Identifier: BSD-3-Clause
// The run and its analyzer as Prometheus metrics; prometheus-cpp writes the text. Names follow Prometheus' conventions:
// base units, and _total for values that only grow during one run. A new run begins at zero, which Prometheus treats as
// a restart. Only ringside_run_info has the run's id as a label. If every metric had this label, each run would add a
// series to every metric.
#pragma once

#include <string>

#include "cli/run_history/run_history.hpp"
#include "cli/run_history/watched_run.hpp"

namespace ringside {

/// The metrics in Prometheus' text format, version 0.0.4.
std::string metrics_text(const RunHistory& history, const AnalyzerView& analyzer);

}  // namespace ringside
