// SPDX-License-Identifier: BSD-3-Clause
// What calibrated figures belong to: this machine, the cores that this process may use, and the loops of this build.
// The build's hash covers the object files of every kernel, for all instruction sets (cmake/hash_objects.cmake): it
// changes if and only if their machine code can have changed. How it is measured has a version of its own. The rest of
// the program is covered by its version.
#pragma once

#include <vector>

#include "common/program/topology.hpp"
#include "node/model/node.hpp"

namespace ringside {

/// The cores that a run uses if it is not told otherwise, one hardware thread of each physical core: the producer's,
/// then the analyzer's, as `plan_cores` splits them.
std::vector<int> usable_cores(const Machine& machine);

/// Of this machine, which `machine` describes. Throws as plan_cores does.
Fingerprint fingerprint(const Machine& machine);

/// 16 hexadecimal digits, of the compiled kernels.
const char* kernels_hash() noexcept;

}  // namespace ringside
