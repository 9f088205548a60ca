// SPDX-License-Identifier: BSD-3-Clause
// How many descriptors this process may open (RLIMIT_NOFILE). Checked at the start: libraries that run out of them
// later abort (ZeroMQ) or retry indefinitely.
#pragma once

#include <cstddef>

namespace ringside {

/// Raises the soft limit as far as the hard limit allows, and returns the new value. Throws Error (exit code 3) if that
/// is less than `needed`. program: the program that needs them.
std::size_t ensure_descriptors(std::size_t needed, const char* program);

/// Throws Error (exit code 3) unless that many more descriptors can be opened now.
void require_free_descriptors(std::size_t count, const char* what_for);

}  // namespace ringside
