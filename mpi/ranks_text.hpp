// SPDX-License-Identifier: BSD-3-Clause
// The ranks' data about each other, as a node's ranks file stores it (docs/formats/files.md).
#pragma once

#include <span>
#include <string>

#include "common/ranks/boxes.hpp"
#include "mpi/job.hpp"
#include "mpi/rank_options.hpp"

namespace ringside::mpi {

/// On the first rank of a node: the text of its ranks file without the run, which its analyzer adds. Empty on other
/// ranks. boxes: on the first rank of all, those of all ranks, and of each those of all variables. Collective.
std::string ranks_text(const Job& job, const RankOptions& options, std::span<const Box> boxes);

}  // namespace ringside::mpi
