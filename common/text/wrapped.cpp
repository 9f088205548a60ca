// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/wrapped.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

constexpr std::size_t kFewestColumns = 60;  // with fewer columns, indentation would fill most of a line

/// Splits `text` at blanks. A command between backticks is not divided, so that a user can copy it in one piece.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  bool in_command = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '`') in_command = !in_command;
    if (i < text.size() && (text[i] != ' ' || in_command)) continue;
    if (i > begin) pieces.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return pieces;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  if (columns == 0) return std::string(text);
  columns = std::max(columns, kFewestColumns);
  std::string lines;
  std::size_t column = indent;
  for (const std::string_view piece : pieces_of(text)) {
    if (column > indent && column + 1 + piece.size() > columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) lines += ' ', ++column;
    lines += piece;
    column += piece.size();
  }
  return lines;
}

std::size_t columns_of_output() {
  winsize size{};
  return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace ringside
