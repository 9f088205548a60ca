// SPDX-License-Identifier: BSD-3-Clause
// The live line of `ringside calibrate`: how much is done, what is measured, and how long it still takes. Redrawn in
// place on a terminal; elsewhere a new line now and then.
#pragma once

#include <cstdint>

#include "cli/terminal/terminal_line.hpp"
#include "node/calibration/calibration.hpp"

namespace ringside {

class CalibrationLine {
 public:
  /// Writes to standard error. `shown` false: never writes.
  explicit CalibrationLine(bool shown) : shown_(shown) {}

  void update(const CalibrationProgress& progress);

  /// Removes the line from the terminal, so that other text can be printed.
  void clear() { terminal_.clear(); }

 private:
  bool shown_;
  TerminalLine terminal_;
  std::int64_t drawn_at_ns_ = 0;
};

}  // namespace ringside
