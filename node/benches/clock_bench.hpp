// SPDX-License-Identifier: BSD-3-Clause
// The clock of busy cores, from a chain of multiplications that each need the previous result. A 64-bit multiplication
// takes 3 cycles on every x86-64 processor since 2008 (Intel from Nehalem on, AMD from Zen on). Additions are
// unsuitable, because some processors execute several additions of a chain in one cycle.
#pragma once

#include <vector>

namespace ringside {

/// Adds samples of the mean clock, in GHz, of the cores `cpus`, which are all busy at the same time.
void measure_clock(const std::vector<int>& cpus, std::vector<double>& samples);

}  // namespace ringside
