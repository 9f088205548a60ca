// One line on the terminal's standard error, redrawn in place; nothing where that is no terminal.
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

  /// Shows `text`, cut to the terminal's width, in the place of what was shown before.
  void show(std::string text);

  /// Takes the line off the terminal, so that something else can be printed.
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace ringside
