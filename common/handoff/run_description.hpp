// SPDX-License-Identifier: BSD-3-Clause
// The identity and the problem of a run. The producer sends this description when it attaches, and the ring stores it
// together with the iterates. The struct has a fixed size and is trivially copyable, because it crosses a process
// boundary and outlives the process (docs/formats/ring_format.md).
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/kernels/hash.hpp"
#include "common/text/fixed_text.hpp"  // included for the solvers, which fill the fields below

namespace ringside {

struct RunDescription {
  Id128 run_id;                          // random, one per run
  Id128 problem_id;                      // a hash of the matrix, the solver and all else that determines the iterates
  std::uint64_t entries = 0;             // the number of entries of the first variable
  std::uint64_t nonzeros = 0;            // the number of nonzero entries of the matrix
  std::int64_t started_realtime_ns = 0;  // CLOCK_REALTIME
  char solver[24] = {};                  // "pagerank", NUL-terminated
  char matrix[400] = {};                 // as given on the command line, NUL-terminated, shortened from the left
  char parameters[512] = {};             // "damping=0.85", NUL-terminated: the solver's part of problem_id, readable
  Id128 schema_id;                       // identifies the run's variables (common/schema/schema.hpp)
};
static_assert(sizeof(RunDescription) == 1008 && std::is_trivially_copyable_v<RunDescription>);

}  // namespace ringside
