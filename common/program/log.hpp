// SPDX-License-Identifier: BSD-3-Clause
// Logging: writes one key=value line to standard error for each change of state. Only log.cpp uses spdlog. The per-step
// path counts but never logs. Control characters in names and texts are escaped (common/text/printable.hpp). If
// standard error goes to systemd's journal, a line begins with its priority, as in <6>, and omits program and time,
// which the journal adds.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace ringside {

/// Sets up the process's logger. program: the beginning of each line. level: trace, debug, info, warning, error or off.
/// Throws Error (exit code 2) for any other level.
void start_log(const std::string& program, const std::string& level);

enum class LogLevel { kInfo, kWarning, kError };

/// Writes a line if `level` is enabled; never throws. May be called from any thread.
void write_log(LogLevel level, fmt::string_view format, fmt::format_args arguments) noexcept;

template <class... T>
void log_at(LogLevel level, fmt::format_string<T...> format, T&&... arguments) noexcept {
  write_log(level, format, fmt::make_format_args(arguments...));
}
template <class... T>
void log_info(fmt::format_string<T...> format, T&&... arguments) noexcept {
  write_log(LogLevel::kInfo, format, fmt::make_format_args(arguments...));
}
template <class... T>
void log_warning(fmt::format_string<T...> format, T&&... arguments) noexcept {
  write_log(LogLevel::kWarning, format, fmt::make_format_args(arguments...));
}
template <class... T>
void log_error(fmt::format_string<T...> format, T&&... arguments) noexcept {
  write_log(LogLevel::kError, format, fmt::make_format_args(arguments...));
}

/// Whether standard error goes to systemd's journal, according to the variable JOURNAL_STREAM.
bool logs_to_journal() noexcept;

/// Prints the last line of a program that fails: "PROGRAM: TEXT", or in systemd's journal a key=value line of priority
/// err.
void print_failure(std::string_view program, int exit_code, std::string_view text) noexcept;

/// Prints a notice for the user: `text` on `stream`, or `event` in systemd's journal.
void print_notice(std::FILE* stream, std::string_view text, std::string_view event);

}  // namespace ringside
