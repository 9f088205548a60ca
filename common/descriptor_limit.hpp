// How many descriptors this process may open (RLIMIT_NOFILE). Known at the start: libraries that run out of them later
// abort (ZeroMQ) or try again without end.
#pragma once

#include <cstddef>

namespace ringside {

/// Raises the soft limit as far as the hard one lets it, and returns what it is then. Throws Error (exit code 3) if
/// that is less than `needed`. program: who needs them.
std::size_t ensure_descriptors(std::size_t needed, const char* program);

/// Throws Error (exit code 3) unless so many more descriptors can be opened right now.
void require_free_descriptors(std::size_t count, const char* what_for);

}  // namespace ringside
