// SPDX-License-Identifier: BSD-3-Clause
// What `ringside calibrate` prints at its end: the figures with one thread and with the most, and the remarks.
#pragma once

#include <string>

#include "node/model/node.hpp"

namespace ringside {

/// Lines of at most 100 columns, as far as names are short, each with its newline.
std::string calibration_table(const Node& node);

}  // namespace ringside
