// SPDX-License-Identifier: BSD-3-Clause
// The subcommands. `probe` measures the caches in front of the memory, and prints a table or JSON. `run` starts a
// program with the preload library, waits for it and prints the account.
#pragma once

#include <string>

#include "memory/probe/probes.hpp"

namespace ringside {

int probe_command(int argc, const char* const* argv);
int run_command(int argc, const char* const* argv);

/// For people: one line per question.
std::string probe_table(const probe::ProbeReport& report);

/// For programs: {"version", "memory_ns", "levels", "remark", "answers": [{question, level, answer, value, confidence,
/// evidence}]}.
std::string probe_json(const probe::ProbeReport& report);

// --- the file of the program that `run` is to start (program_file.cpp)

/// The file that exec would start: `program` if it has a slash, else its file in PATH. Throws Error, exit code 2.
std::string find_program(const std::string& program);

/// Throws Error (exit code 2) if the dynamic linker would not preload the library: if the program is static or for
/// another machine, if it changes its user (setuid, setgid, capabilities), or if its sanitizer excludes the library.
/// For a script, the script's interpreter is checked.
void refuse_unless_preloadable(const std::string& file);

/// Throws UsageError if a library of LD_PRELOAD (`libraries`) is the run-time library of a sanitizer.
void refuse_sanitizers(const std::string& libraries);

}  // namespace ringside
