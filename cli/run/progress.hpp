// The live line of `ringside run`: redrawn in place on a terminal, a plain line every two seconds elsewhere. Iteration,
// L1 change, steps and bytes a second, the idle shares of producer (P) and analyzer (A), and the time left where there
// is a tolerance to reach; short enough for 80 columns.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/terminal/terminal_line.hpp"

namespace ringside {

class ProgressLine {
 public:
  /// Writes to standard error. `shown` false: never writes.
  explicit ProgressLine(bool shown);

  /// The newest report line of each side; null where there is none. Draws if it is time to.
  void update(const nlohmann::json& producer, const nlohmann::json& analyzer);

  /// Takes the line off the terminal, so that something else can be printed.
  void clear() { terminal_.clear(); }

 private:
  std::string line(const nlohmann::json& producer, const nlohmann::json& analyzer, double seconds);

  bool shown_;
  TerminalLine terminal_;
  std::int64_t begun_at_ns_;
  std::int64_t drawn_at_ns_;
  // The figures of the line before: rates and shares are those of the time in between.
  nlohmann::json producer_before_;
  nlohmann::json analyzer_before_;
};

}  // namespace ringside
