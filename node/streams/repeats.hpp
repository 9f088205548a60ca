// SPDX-License-Identifier: BSD-3-Clause
// Statistics of repeated measurements: the median and the spread of a node's figures (node/model/node.hpp).
#pragma once

#include <vector>

#include "node/model/node.hpp"

namespace ringside {

/// The value below which the share `part` (0 to 1) of the samples lies, by linear interpolation between two samples.
/// Samples: at least one, in any order.
double percentile_of(std::vector<double> samples, double part);

double median_of(std::vector<double> samples);

/// The median, and half the distance from the 10th to the 90th percentile divided by it (0 if the median is 0).
/// Samples: at least one, in any order.
Measured measured(const std::vector<double>& samples);

}  // namespace ringside
