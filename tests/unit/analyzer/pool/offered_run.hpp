// SPDX-License-Identifier: BSD-3-Clause
// A run that offers what a built-in solver with one variable offers.
#pragma once

#include "analyzer/pool/ring_admission.hpp"
#include "common/reductions/reduction_catalogue.hpp"

namespace ringside {

inline OfferedRun offered(const RunDescription& run) {
  return {run, Schema::x_only(run.entries), {residual_scalars().begin(), residual_scalars().end()}};
}

}  // namespace ringside
