// SPDX-License-Identifier: BSD-3-Clause
// The scalars that libringside_mpi adds to those of the solver: what the run knew of the other nodes when the step was
// published. They are measurements, so runs of equal content differ in them.
#pragma once

#include <array>

#include "common/results/result_description.hpp"

namespace ringside {

inline const std::array<Scalar, 3> kMpiScalars = {{{.name = "global_iteration", .type = ValueType::kI64},
                                                   {.name = "waited_for_node", .type = ValueType::kI64},
                                                   {.name = "waited_ns", .type = ValueType::kI64, .unit = "ns"}}};

}  // namespace ringside
