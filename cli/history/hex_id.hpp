// SPDX-License-Identifier: BSD-3-Clause
// The ids of runs and problems as users see them.
#pragma once

#include <string>

namespace ringside {

/// 16 bytes as 32 hexadecimal digits.
std::string hex(const std::string& id);

}  // namespace ringside
