// SPDX-License-Identifier: BSD-3-Clause
// The slowdown of two kernels by each other: the bytes that each kernel moves, fitted to pairs measured side by side.
// Not every machine has counters of these bytes. The pairs of one split are fitted; all other pairs are the test.
#pragma once

#include "node/model/node_model.hpp"

namespace ringside {

/// Fits the bytes of the kernels in `model` to its pairs, and sets its coupling error. Without pairs nothing changes.
void fit_coupling(NodeModel& model);

}  // namespace ringside
