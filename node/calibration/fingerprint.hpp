// SPDX-License-Identifier: BSD-3-Clause
// Calibrated figures belong to this machine, the allowed cores of this process, and the loops of this build. The
// build's hash covers the object files of every kernel, for all instruction sets (cmake/hash_objects.cmake): it changes
// if and only if their machine code may have changed. The measuring method has its own version; the program's version
// covers everything else.
#pragma once

#include <vector>

#include "common/program/topology.hpp"
#include "node/model/node.hpp"

namespace ringside {

/// The default cores of a run, one hardware thread of each physical core: the producer's, then the analyzer's, as
/// `plan_cores` splits them.
std::vector<int> usable_cores(const Machine& machine);

/// The fingerprint of this machine, which `machine` describes. Throws Error as plan_cores does.
Fingerprint fingerprint(const Machine& machine);

/// A hash of the compiled kernels, 16 hexadecimal digits.
const char* kernels_hash() noexcept;

}  // namespace ringside
