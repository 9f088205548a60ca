// SPDX-License-Identifier: BSD-3-Clause
// What the ranks know of each other, as the ranks file of a node has it (docs/formats/files.md).
#pragma once

#include <span>
#include <string>

#include "common/ranks/boxes.hpp"
#include "mpi/job.hpp"
#include "mpi/rank_options.hpp"

namespace ringside::mpi {

/// On the first rank of a node: the text of its ranks file, but for the run, which its analyzer knows. Empty on other ranks.
/// boxes: on the first rank of all, those of all ranks, and of each those of all variables. Collective.
std::string ranks_text(const Job& job, const RankOptions& options, std::span<const Box> boxes);

}  // namespace ringside::mpi
