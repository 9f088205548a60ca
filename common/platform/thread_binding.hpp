// SPDX-License-Identifier: BSD-3-Clause
// Which cores a thread runs on.
#pragma once

#include <span>

namespace ringside {

/// Binds the calling thread to these logical CPUs, at least one. Returns 0, or an errno value if no such core exists
/// or none of them is allowed.
int bind_calling_thread(std::span<const int> cpus) noexcept;

/// The same for one CPU.
int bind_calling_thread(int cpu) noexcept;

/// Lowers this thread's priority, and that of the threads that it starts, below that of an analyzer's main thread, which
/// shares its cores: to a tenth of its weight, several times what recording needs.
void lower_thread_priority() noexcept;

}  // namespace ringside
