// SPDX-License-Identifier: BSD-3-Clause
// Detects programs whose run-time library intercepts malloc, mmap and the signal handlers itself. If another library
// also intercepts these, such programs end before main, most of them without a message. This code runs before the C
// library is ready, so it makes only system calls.
#pragma once

namespace ringside::memory {

/// "ThreadSanitizer" and so on, if the program in the file was built with a sanitizer, according to the symbols that it
/// defines or requires. (A stripped GCC program with a static run-time library has no such symbols.) nullptr if none is
/// found, or if there is no such file.
const char* sanitizer_of(int program_file) noexcept;

/// Whether this process is run by valgrind.
bool is_below_valgrind() noexcept;

}  // namespace ringside::memory
