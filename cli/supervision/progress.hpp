// SPDX-License-Identifier: BSD-3-Clause
// The progress line of `ringside run`. On a terminal to which no other program writes, the line is redrawn in place;
// otherwise a new line appears every two seconds. It shows the iteration, L1 change, steps and bytes per second, the
// idle shares of producer (P) and analyzer (A), and the time left if there is a tolerance. It fits 80 columns.
#pragma once

#include <cstdint>
#include <string>

#include "cli/terminal/terminal_line.hpp"
#include "common/json/json.hpp"

namespace ringside {

class ProgressLine {
 public:
  /// Writes to standard error. If `shown` is false, writes nothing. in_place: redraws the line on a terminal; false if
  /// another program also writes there.
  explicit ProgressLine(bool shown, bool in_place = true);

  /// Sets the text that is shown before the first iteration, followed by the time since this call.
  void wait_for(const std::string& text);

  /// producer, analyzer: the newest figures of each process, or null. Draws the line if it is due.
  void update(const Json& producer, const Json& analyzer);

  /// Removes the line from the terminal, so that other text can be printed.
  void clear() { terminal_.clear(); }

 private:
  std::string line(const Json& producer, const Json& analyzer, double seconds);

  bool shown_;
  std::string waiting_ = "loading the matrix";
  TerminalLine terminal_;
  bool in_place_;
  std::int64_t begun_at_ns_;
  std::int64_t drawn_at_ns_;
  // The figures of the previous line, from which rates and shares are computed.
  Json producer_before_;
  Json analyzer_before_;
};

}  // namespace ringside
