// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/point_file.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::string content_of_points(const std::string& path) {
  const RegularFile file = open_input(path);
  if (!file.valid()) throw system_error("--points: cannot read '{}': {}", path, file.why());
  std::string content;
  const int error = read_to_end(file.fd.get(), content);
  if (error != 0) throw system_error("--points: cannot read '{}': {}", path, errno_text(error));
  return content;
}

/// The text between `before` and `after` in NumPy's header, which is a Python dictionary.
std::string_view between(std::string_view header, std::string_view before, std::string_view after) {
  const std::size_t at = header.find(before);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + before.size();
  return header.substr(begin, header.find(after, begin) - begin);
}

template <class T>
void append_points(std::string_view data, std::uint64_t rows, std::size_t columns, std::vector<double>& points) {
  for (std::uint64_t i = 0; i < rows; ++i) {
    T row[3] = {0, 0, 0};
    std::memcpy(row, data.data() + i * columns * sizeof(T), columns * sizeof(T));
    for (const T coordinate : row) points.push_back(static_cast<double>(coordinate));
  }
}

std::vector<double> points_of_npy(std::string_view file, const std::string& path) {
  const auto refuse = [&](std::string_view found) {
    return usage_error(
        "--points: {}: found {}, expected an npy file of <f4 or <f8 with the shape (n, 2) or (n, 3), in C order", path,
        shortened(found));
  };
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(file[at])); };
  const bool wide = file.size() > 6 && file[6] >= 2;
  const std::size_t head = wide ? 12 : 10;
  if (file.size() < head) throw refuse("a header that is cut off");
  const std::size_t length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
  if (file.size() - head < length) throw refuse("a header that is cut off");
  const std::string_view header = file.substr(head, length);
  const std::string_view data = file.substr(head + length);
  const std::string_view dtype = between(header, "'descr': '", "'");
  const std::string_view shape = between(header, "'shape': (", ")");
  std::uint64_t rows = 0;
  const char* const end = shape.data() + shape.size();
  const auto [after, error] = std::from_chars(shape.data(), end, rows);
  const std::string_view columns(after, static_cast<std::size_t>(end - after));
  if (error != std::errc() || (columns != ", 2" && columns != ", 3") || (dtype != "<f8" && dtype != "<f4") ||
      header.find("'fortran_order': False") == std::string_view::npos) {
    throw refuse(header.substr(0, header.find_last_not_of(" \n") + 1));
  }
  const std::size_t number = columns == ", 2" ? 2 : 3;
  const std::size_t row_bytes = number * (dtype == "<f8" ? 8 : 4);
  if (data.size() % row_bytes != 0 || data.size() / row_bytes != rows)
    throw refuse("data whose length does not match the header");
  std::vector<double> points;
  points.reserve(3 * rows);
  if (dtype == "<f8") {
    append_points<double>(data, rows, number, points);
  } else {
    append_points<float>(data, rows, number, points);
  }
  return points;
}

/// The numbers of a line; empty if it contains anything else.
std::optional<std::vector<double>> numbers_of_line(std::string_view line) {
  std::vector<double> numbers;
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto skip = [&](std::string_view which) {
    while (at != end && which.find(*at) != std::string_view::npos) ++at;
  };
  for (skip(" \t\r"); at != end; skip(" \t\r")) {
    double number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    at = after;
    skip(" \t\r");
    if (at != end && *at == ',' && ++at == end) return std::nullopt;
  }
  return numbers;
}

std::vector<double> points_of_text(std::string_view text, const std::string& path) {
  std::vector<double> points;
  std::size_t columns = 0;
  std::uint64_t line_number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line_number;
    const std::optional<std::vector<double>> numbers = numbers_of_line(line);
    if (!numbers && line_number == 1) continue;  // the head of the table
    if (numbers && numbers->empty()) continue;
    if (!numbers || (numbers->size() != 2 && numbers->size() != 3) || (columns != 0 && numbers->size() != columns)) {
      throw usage_error("--points: {}: line {}: found '{}', expected {} numbers", path, line_number,
                        shortened(line, 80),
                        columns == 0   ? "two or three"
                        : columns == 2 ? "two"
                                       : "three");
    }
    columns = numbers->size();
    points.insert(points.end(), numbers->begin(), numbers->end());
    if (columns == 2) points.push_back(0);
  }
  return points;
}

}  // namespace

std::vector<double> read_points(const std::string& path) {
  const std::string content = content_of_points(path);
  std::vector<double> points =
      content.starts_with("\x93NUMPY") ? points_of_npy(content, path) : points_of_text(content, path);
  if (points.empty()) throw usage_error("--points: {}: found no point, expected one for each entry", path);
  return points;
}

}  // namespace ringside
