// The place a pool is kept: room, and whether stores there persist where they are made. `place` is a pool file, a
// folder, or the name of a file to be made in a folder. At most a nameless file is made there.
#pragma once

#include <string>

#include "cli/doctor/finding.hpp"

namespace ringside {

Finding probe_space(const std::string& place);
Finding probe_dax(const std::string& place, const std::string& root = "");

}  // namespace ringside
