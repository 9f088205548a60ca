// SPDX-License-Identifier: BSD-3-Clause
// `ringside-memory run`: starts a program with the preload library, waits for it and prints the account.
#pragma once

namespace ringside {

int run_command(int argc, const char* const* argv);

}  // namespace ringside
