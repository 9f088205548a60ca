// SPDX-License-Identifier: BSD-3-Clause
// The data about all ranks that a node's ranks file contains (docs/formats/files.md).
#pragma once

#include <span>
#include <string>

#include "common/ranks/boxes.hpp"
#include "mpi/job.hpp"
#include "mpi/rank_options.hpp"

namespace ringside::mpi {

/// On the first rank of a node: the text of the node's ranks file, without the run, which the node's analyzer adds.
/// Empty on other ranks. boxes: on the job's first rank, the boxes of all variables for each rank in turn. Collective.
std::string ranks_text(const Job& job, const RankOptions& options, std::span<const Box> boxes);

}  // namespace ringside::mpi
