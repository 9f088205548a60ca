// Which core a thread runs on.
#pragma once

namespace ringside {

/// Binds the calling thread to one logical CPU. 0, or an errno value: there is no such core, or it is not allowed.
int bind_calling_thread(int cpu) noexcept;

}  // namespace ringside
