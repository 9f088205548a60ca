// SPDX-License-Identifier: BSD-3-Clause
// The results of an experiment, as input for text, JSON and a page: tables, plots, and the durations of every repeat of
// every thread. If the machine lacks a counter or memory, a special cell has the reason.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ringside {

struct NotAvailable {
  std::string reason;  // one clause
};

struct Cell : std::variant<double, std::string, NotAvailable> {
  using variant::variant;
  Cell(std::integral auto number) : variant(static_cast<double>(number)) {}
  Cell(std::string_view text) : variant(std::string(text)) {}
};

struct Column {
  std::string key;   // the key in JSON: "median_gb_s"
  std::string head;  // the text above the column: "median"
  std::string unit;  // "GB/s"; empty: no unit, or a text
  int digits = 2;    // digits after the point
};

struct ResultTable {
  std::string key;  // the key in JSON
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // a cell for each column
};

struct PlotLine {
  std::string label;
  std::vector<std::pair<double, double>> points;  // by ascending x
};

struct Plot {
  std::string title;
  std::string x;  // "threads"
  std::string y;  // "GB/s, counted"
  std::vector<PlotLine> lines;
};

/// One thread of one setting.
struct ThreadSeries {
  std::string setting;  // "copy, dram, 2 threads"
  int thread = 0;
  int cpu = 0;
  std::vector<double> seconds;  // the seconds of its repeats, in their order
};

struct ExperimentResult {
  std::vector<ResultTable> tables;
  std::vector<Plot> plots;
  std::vector<ThreadSeries> series;
  std::vector<std::string> remarks;  // sentences
  std::vector<double> last_iterate;  // for `pipeline`: the values that another program on the same problem must reach
};

}  // namespace ringside
