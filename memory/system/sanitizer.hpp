// SPDX-License-Identifier: BSD-3-Clause
// Programs whose run-time library stands in front of malloc, mmap and the signal handlers itself: with another library
// there they end before main, most without a line. Runs before the C library is ready: system calls only.
#pragma once

namespace ringside::memory {

/// "ThreadSanitizer" and so on, if the program in the file was built with one: its symbols or those that it needs say so
/// (none is left of a static run-time library in a stripped program of GCC). nullptr: none, or no such file.
const char* sanitizer_of(int program_file) noexcept;

/// Whether this process is run by valgrind.
bool is_below_valgrind() noexcept;

}  // namespace ringside::memory
