// SPDX-License-Identifier: BSD-3-Clause
// The library's own descriptors (far memory, userfaultfd). A program that closes all that it does not know, as daemons
// and children before exec do, would take them away: absent pages would then read as zeros. So they have high numbers,
// and the functions that close descriptors pass them over.
#pragma once

namespace ringside::memory {

/// They get high numbers. Before the arena is started.
void keep_descriptors() noexcept;

}  // namespace ringside::memory
