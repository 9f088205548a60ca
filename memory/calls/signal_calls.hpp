// SPDX-License-Identifier: BSD-3-Clause
// The program's calls on signals. SIGBUS and SIGSYS are the library's: a blocked one would turn a fault or a trap into
// the end of the process, also where the C library itself blocks all signals (pthread_create, posix_spawn).
#pragma once

#include <stdint.h>

#include "memory/calls/records.hpp"
#include "memory/calls/stubs.hpp"

namespace ringside::memory {

/// rt_sigprocmask and rt_sigaction: puts what the kernel shall have in place of the program's structure into the
/// scratch room of `frame`, which will lie at `at`. true: the call is answered, with `result`. `record`: null if there
/// is no arena in this process.
bool change_signal_call(const Call& call, Record* record, Frame& frame, uint64_t at, uint64_t* arguments,
                        long* result) noexcept;

}  // namespace ringside::memory
