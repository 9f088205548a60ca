// SPDX-License-Identifier: BSD-3-Clause
// The program's signal calls. SIGBUS and SIGSYS belong to the library: if one is blocked, a fault or a trap ends the
// process. This includes the places where the C library blocks all signals (pthread_create, posix_spawn).
#pragma once

#include <stdint.h>

#include "memory/calls/records.hpp"
#include "memory/calls/stubs.hpp"

namespace ringside::memory {

/// rt_sigprocmask and rt_sigaction: writes the kernel's replacement for the program's structure into the scratch space
/// of `frame`, which will lie at `at`. true: the call is complete, with `result`. `record`: null if this process has no
/// arena.
bool change_signal_call(const Call& call, Record* record, Frame& frame, uint64_t at, uint64_t* arguments,
                        long* result) noexcept;

}  // namespace ringside::memory
