// SPDX-License-Identifier: BSD-3-Clause
// The scalars that libringside_mpi adds to the solver's scalars: the state of the other nodes, as received when the
// step was published. These scalars are measurements, so they differ between runs of equal content.
#pragma once

#include <array>

#include "common/results/result_description.hpp"

namespace ringside {

inline const std::array<Scalar, 3> kMpiScalars = {{{.name = "global_iteration", .type = ValueType::kI64},
                                                   {.name = "waited_for_node", .type = ValueType::kI64},
                                                   {.name = "waited_ns", .type = ValueType::kI64, .unit = "ns"}}};

}  // namespace ringside
