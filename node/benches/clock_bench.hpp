// SPDX-License-Identifier: BSD-3-Clause
// The clock of busy cores: a chain of multiplications, each of which needs the result of the one before. A 64-bit
// multiplication takes 3 cycles on every x86-64 processor since 2008 (Intel from Nehalem on, AMD from Zen on);
// additions would not do, because some processors do several of a chain in one cycle.
#pragma once

#include <vector>

namespace ringside {

/// Adds samples of the mean clock, in GHz, of the cores `cpus`, all busy at once.
void measure_clock(const std::vector<int>& cpus, std::vector<double>& samples);

}  // namespace ringside
