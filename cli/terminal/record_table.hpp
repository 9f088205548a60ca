// Records as lines for people: a table of steps whose header is drawn anew every screenful, and a line of its own for
// everything that is no step. Only text: where it goes, and whether it may have colours, is the caller's to say.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/ringside.pb.h"

namespace ringside {

/// "1.23 ms": a duration in the unit in which it has one to three digits before the point.
std::string duration_text(std::int64_t ns);

/// One character for each value, from lowest to highest of them, as a bar; a blank for what is not finite.
std::string sparkline(const std::deque<double>& values, double lowest, double highest);

struct TableOptions {
  bool colours = false;
  std::size_t screen_rows = 0;     // the header comes again after so many lines; 0: once
  std::size_t screen_columns = 0;  // columns are left out until a step fits; 0: none are
  std::size_t most_lines = 0;      // for one call of `lines`: steps are put together to stay below; 0: a line for each
};

class RecordTable {
 public:
  explicit RecordTable(const TableOptions& options);

  /// The screen has this size from now on: what fits is chosen anew, under a new header, if it is another one.
  void fit(std::size_t screen_rows, std::size_t screen_columns);

  /// The lines of `records`, each with its newline.
  std::string lines(std::span<const wire::Record> records);

  /// A line that stands out: what happened to the analyzer.
  std::string notice(std::string_view text);

 private:
  struct Cells;
  void choose_columns();
  void add_steps(std::string& out, std::span<const wire::Record* const> steps);
  void add_event(std::string& out, const wire::Record& record);
  void add_line(std::string& out, std::string_view line);
  std::string paint(std::string_view text, std::string_view colour) const;
  std::string share(double share) const;

  /// What is left out where the screen is narrow.
  struct Shown {
    bool sparks = true;
    bool commit = true;
    bool hand_off = true;
    bool time = true;
  };
  std::string step_line(const Cells& cells) const;

  TableOptions options_;
  Shown shown_;
  std::size_t lines_left_ = 0;    // until the header comes again
  std::deque<double> residuals_;  // log10, of the newest lines
  std::deque<double> producer_idle_;
  std::deque<double> analyzer_idle_;
};

/// What `--once` prints.
std::string status_text(const wire::Status& status);

}  // namespace ringside
