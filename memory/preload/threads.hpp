// SPDX-License-Identifier: BSD-3-Clause
// A fault is handled on an alternate stack of the thread, so that a small stack has room for it and a stack that itself
// lies in the arena may be absent. Every thread of pthread_create gets one from here.
#pragma once

#include <sys/types.h>

namespace ringside::memory {

/// For the main thread, before main. 0 or an error number.
int start_threads() noexcept;
/// The process that the handlers belong to.
pid_t own_process() noexcept;
/// In a forked child.
void note_process() noexcept;

}  // namespace ringside::memory
