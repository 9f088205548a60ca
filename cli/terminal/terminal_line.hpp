// SPDX-License-Identifier: BSD-3-Clause
// A line on standard error that is redrawn in place. If standard error is not a terminal, nothing is written.
#pragma once

#include <string>

namespace ringside {

class TerminalLine {
 public:
  TerminalLine();
  ~TerminalLine() { clear(); }
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  bool on_terminal() const noexcept { return terminal_; }

  /// Shows `text`, cut to the terminal's width, in place of the previous text.
  void show(std::string text);

  /// Removes the line from the terminal, so that other text can be printed.
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace ringside
