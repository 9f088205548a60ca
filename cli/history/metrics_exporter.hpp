// The run and its analyzer as Prometheus metrics (prometheus-cpp writes the text). Names by its conventions: base
// units, _total for what only grows while one run lasts; a new run begins at zero, which Prometheus takes for a
// restart. The run's id is a label of ringside_run_info alone, so that a thousand runs do not make a thousand series of
// each.
#pragma once

#include <string>

#include "cli/history/run_history.hpp"
#include "cli/history/watched_run.hpp"

namespace ringside {

/// The text format, version 0.0.4.
std::string metrics_text(const RunHistory& history, const AnalyzerView& analyzer);

}  // namespace ringside
