// Logging (spdlog): one key=value line on a state change, to standard error. The per-step path counts, it never logs.
// Control characters of names and texts never reach either (common/platform/printable.hpp).
// Where standard error is the journal of systemd a line begins with its priority, as <6>, and leaves program and time
// to the journal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ringside {

/// Sets up the process's logger. `program` begins each line; `level` is trace, debug, info, warning, error or off
/// (others: Error, exit code 2).
void start_log(const std::string& program, const std::string& level);

/// Whether standard error goes to the journal of systemd: as its JOURNAL_STREAM says.
bool logs_to_journal() noexcept;

/// The last line of a program that fails: "PROGRAM: TEXT", or in the journal a key=value line of priority err.
void print_failure(std::string_view program, int exit_code, std::string_view text) noexcept;

/// What a program tells those who started it: `text` for people on `stream`, or in the journal `event`.
void print_notice(std::FILE* stream, std::string_view text, std::string_view event);

}  // namespace ringside
