// Which cores a thread runs on.
#pragma once

#include <span>

namespace ringside {

/// Binds the calling thread to these logical CPUs, at least one. 0, or an errno value: there is no such core, or none
/// of them is allowed.
int bind_calling_thread(std::span<const int> cpus) noexcept;

/// The same for one.
int bind_calling_thread(int cpu) noexcept;

}  // namespace ringside
