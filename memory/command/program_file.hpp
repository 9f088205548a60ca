// SPDX-License-Identifier: BSD-3-Clause
// Finds the file of the program that `ringside-memory run` is to start, and checks whether a library can be preloaded.
#pragma once

#include <string>

namespace ringside {

/// The file that exec would start: `program` if it has a slash, else its file in PATH. Throws Error, exit code 2.
std::string find_program(const std::string& program);

/// Throws Error (exit code 2) if the dynamic linker would not preload the library: the program is static, for another
/// machine, or changes its user (setuid, setgid, capabilities), or its sanitizer excludes the library. For a script,
/// checks its interpreter.
void refuse_unless_preloadable(const std::string& file);

/// UsageError if a library of LD_PRELOAD (`libraries`) is the run-time library of a sanitizer.
void refuse_sanitizers(const std::string& libraries);

}  // namespace ringside
