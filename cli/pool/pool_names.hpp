// SPDX-License-Identifier: BSD-3-Clause
// What a pool's own run table says of results: the names of the values in its journal, if the journal's descriptions
// are damaged or gone.
#pragma once

#include <string>
#include <vector>

#include "common/records/record_layout.hpp"

namespace ringside {

/// One for each run that the pool describes; none if the pool cannot be read.
std::vector<SharedLayout> layouts_in(const std::string& pool);

}  // namespace ringside
