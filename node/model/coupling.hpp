// SPDX-License-Identifier: BSD-3-Clause
// How much two kernels slow each other down depends on the bytes that each kernel moves. Not every machine has counters
// of these bytes, so they are fitted to pairs of kernels that were measured side by side. The fit uses the pairs of one
// split; all other pairs test it.
#pragma once

#include "node/model/node_model.hpp"

namespace ringside {

/// Fits the bytes of the kernels in `model` to its pairs, and sets its coupling error. Without pairs nothing changes.
void fit_coupling(NodeModel& model);

}  // namespace ringside
