// SPDX-License-Identifier: BSD-3-Clause
// A fault is handled on an alternate stack of the thread. So a small stack needs no space for it, and a stack in the
// arena may be absent. Every thread of pthread_create gets one here.
#pragma once

#include <sys/types.h>

namespace ringside::memory {

/// For the main thread, before main. 0 or an error number.
int start_threads() noexcept;
/// The process to which the handlers belong.
pid_t own_process() noexcept;
/// Call it in a forked child.
void note_process() noexcept;

}  // namespace ringside::memory
