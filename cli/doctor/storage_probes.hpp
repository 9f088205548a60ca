// SPDX-License-Identifier: BSD-3-Clause
// Probes of the place of a pool: its free space, and whether stores persist in place there. `place` is a pool file, a
// folder, or the name of a file to be made in a folder. A probe makes at most one unnamed file there.
#pragma once

#include <string>

#include "cli/doctor/finding.hpp"

namespace ringside {

Finding probe_space(const std::string& place);
Finding probe_dax(const std::string& place, const std::string& root = "");

}  // namespace ringside
