// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/terminal_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "common/files/standard_streams.hpp"

namespace ringside {
namespace {

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

TerminalLine::TerminalLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

void TerminalLine::show(std::string text) {
  if (!terminal_) return;
  text.resize(std::min(text.size(), terminal_columns() - 1));
  write_standard_error(fmt::format("\r{}\x1b[K", text));
  drawn_ = true;
}

void TerminalLine::clear() {
  if (!drawn_) return;
  write_standard_error("\r\x1b[K");
  drawn_ = false;
}

}  // namespace ringside
