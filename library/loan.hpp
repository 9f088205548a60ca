// SPDX-License-Identifier: BSD-3-Clause
// The loan of the analyzer's cores, which belongs to a writer's handle. It is for programs that are built with
// Ringside's own teams of threads. It is not in ringside.h, because a loan consists of C++ atomics in shared memory.
#pragma once

#include <optional>

#include "common/handoff/handoff_writer.hpp"
#include "include/ringside.h"

namespace ringside::library {

/// Call this before attaching a writer whose threads will use the analyzer's cores. From now on, the writers of this
/// process that lend cores also borrow. Without this call, the analyzer lends none.
void borrow_cores() noexcept;

/// The writer's loan; empty unless the writer lends cores. Valid until the writer is freed.
std::optional<CoreLoan> loan_of(ringside_writer& writer) noexcept;

}  // namespace ringside::library
