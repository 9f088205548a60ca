// SPDX-License-Identifier: BSD-3-Clause
// Protects the library's descriptors (far memory, userfaultfd). Daemons, and children before exec, often close all
// descriptors that they did not open; absent pages would then read as zeros. So the library's have high numbers, and
// the functions that close descriptors skip them.
#pragma once

namespace ringside::memory {

/// Gives them high numbers. Before the arena is started.
void keep_descriptors() noexcept;

}  // namespace ringside::memory
