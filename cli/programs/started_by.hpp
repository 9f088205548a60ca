// SPDX-License-Identifier: BSD-3-Clause
// By this variable `ringside` gives its version to a program that has some of its commands, which removes it.
#pragma once

namespace ringside {

inline constexpr const char* kStartedBy = "RINGSIDE_COMMANDS_OF";

}  // namespace ringside
