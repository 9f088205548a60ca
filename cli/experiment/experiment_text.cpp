// SPDX-License-Identifier: BSD-3-Clause
#include "cli/experiment/experiment_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// How many columns of a terminal a text takes: bytes that continue a character take none.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string cell_text(const Cell& cell, const Column& column) {
  if (const auto* number = std::get_if<double>(&cell)) {
    // Counters have many digits, and no unit of their own in the column.
    if (column.digits == 0 && std::abs(*number) >= 1e7) return fmt::format("{:.4g}", *number);
    return fmt::format("{:.{}f}", *number, column.digits);
  }
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
  return "n/a";
}

/// Why a figure is not available, and the heads of the columns that lack it.
struct Reason {
  std::string text;
  std::vector<std::string> heads;
};

void add_reason(std::vector<Reason>& reasons, const std::string& text, const std::string& head) {
  auto found = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& reason) { return reason.text == text; });
  if (found == reasons.end()) found = reasons.insert(found, {text, {}});
  if (std::find(found->heads.begin(), found->heads.end(), head) == found->heads.end()) found->heads.push_back(head);
}

std::string padded(const std::string& text, std::size_t width, bool to_the_left) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return to_the_left ? text + blanks : blanks + text;
}

}  // namespace

std::string to_text(const ResultTable& table) {
  std::vector<std::vector<std::string>> lines(2);
  std::vector<bool> words(table.columns.size(), false);
  std::vector<Reason> reasons;
  for (const Column& column : table.columns) {
    lines[0].push_back(column.head);
    lines[1].push_back(column.unit);
  }
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      lines.back().push_back(cell_text(row[c], table.columns[c]));
      words[c] = words[c] || std::holds_alternative<std::string>(row[c]);
      if (const auto* none = std::get_if<NotAvailable>(&row[c])) {
        add_reason(reasons, none->reason, table.columns[c].head);
      }
    }
  }
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }
  std::string text = table.title + "\n";
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < line.size(); ++c) row += "  " + padded(line[c], widths[c], words[c]);
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  // With one reason, or one for whole rows, no reader asks which column it is for.
  for (const Reason& reason : reasons) {
    const bool whole = reasons.size() == 1 || reason.heads.size() > 3;
    text += fmt::format("  n/a{}: {}\n", whole ? "" : fmt::format(" ({})", fmt::join(reason.heads, ", ")),
                        printable(reason.text));
  }
  return text;
}

std::string to_text(const Experiment& experiment, const ExperimentResult& result) {
  std::string text = fmt::format("{}: {}\nAfter {}.\n", experiment.name, experiment.does, experiment.source);
  for (const ResultTable& table : result.tables) text += "\n" + to_text(table);
  if (!result.remarks.empty()) text += "\n";
  for (const std::string& remark : result.remarks) text += printable(remark) + "\n";
  return text;
}

}  // namespace ringside
