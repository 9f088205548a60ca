// SPDX-License-Identifier: BSD-3-Clause
// Records as lines for the user: a table of steps whose header is repeated every screenful, and one line for each
// record of another kind. The table is only text: the caller chooses the destination, and whether colours are allowed.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/run_text.hpp"
#include "common/records/result_names.hpp"
#include "common/records/shown_results.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// One bar per value, scaled from `lowest` to `highest`; a blank for a value that is not finite.
std::string sparkline(const std::deque<double>& values, double lowest, double highest);

struct TableOptions {
  bool colours = false;
  std::size_t screen_rows = 0;     // the header is repeated after this many lines; 0: not repeated
  std::size_t screen_columns = 0;  // columns are left out until a line fits; 0: all columns are shown
  std::size_t most_lines = 0;      // limit for one call of `lines`, which combines steps; 0: one line per step
};

class RecordTable {
 public:
  explicit RecordTable(const TableOptions& options);

  /// Sets the size of the screen. If it changes, the columns are chosen again, under a new header.
  void fit(std::size_t screen_rows, std::size_t screen_columns);

  /// The lines of `records`, each with its newline. names: the names of the records' results.
  std::string lines(std::span<const wire::Record> records, const ResultNames& names = {});

  /// A highlighted line about the analyzer.
  std::string notice(std::string_view text);

 private:
  struct Cells;
  Cells head() const;
  void choose_columns();
  void name_columns(const StepResults& results);
  void add_steps(std::string& out, std::span<const wire::Record* const> steps, const ResultNames& names);
  void add_event(std::string& out, const wire::Record& record);
  void add_line(std::string& out, std::string_view line);
  std::string paint(std::string_view text, std::string_view colour) const;
  std::string share(double share) const;

  /// The optional columns, which are left out on a narrow screen.
  struct Shown {
    bool sparks = true;
    bool scalars = true;
    bool commit = true;
    bool hand_off = true;
    bool time = true;
  };
  std::string step_line(const Cells& cells) const;

  TableOptions options_;
  Shown shown_;
  std::string course_ = "change";     // the head of the column
  std::vector<std::string> scalars_;  // full names of the scalars that have columns
  SharedLayout layout_;               // the layout for which the columns were named
  std::size_t lines_left_ = 0;        // number of lines until the header is repeated
  std::deque<double> changes_;        // log10 of the changes in the newest lines
  std::deque<double> producer_idle_;
  std::deque<double> analyzer_idle_;
};

}  // namespace ringside
