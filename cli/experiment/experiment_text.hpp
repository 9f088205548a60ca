// SPDX-License-Identifier: BSD-3-Clause
// An experiment's tables as text for a terminal. A value that the machine lacks is n/a; the reasons stand below the
// table.
#pragma once

#include <string>

#include "node/experiments/experiment.hpp"

namespace ringside {

std::string to_text(const ResultTable& table);

std::string to_text(const Experiment& experiment, const ExperimentResult& result);

}  // namespace ringside
