// SPDX-License-Identifier: BSD-3-Clause
// The findings of an experiment as one JSON object, which is also the data of its page. The head describes the machine
// on which they were measured. A figure that the machine cannot give is "n/a: REASON".
#pragma once

#include <string>

#include "common/json/json.hpp"
#include "node/experiments/experiment.hpp"

namespace ringside {

/// {cpu, processors_allowed, cores, numa_nodes, last_level_cache_bytes, governor, kernel, huge_pages, isa, version,
/// load_average, started}: call it before the experiment. A value that cannot be determined is "n/a".
Json machine_of(const Machine& machine);

/// {experiment, does, source, machine, options, tiers, remarks, tables, plots, series}. tables: {key: {title, columns,
/// rows}}; a row has a value for each column's key. series: the seconds of each repeat of each thread.
Json to_json(const Experiment& experiment, const Surroundings& around, const ExperimentResult& result,
             const Json& machine);

/// The object as one self-contained HTML page.
std::string experiment_page(const Json& found);

}  // namespace ringside
