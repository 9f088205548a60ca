// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/analysis_output.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/terminal/format.hpp"

namespace ringside {
namespace {

std::string begin_of(const std::string& name) {
  return name.empty() ? std::string() : name + ": ";
}

}  // namespace

void AnalysisOutput::show(const std::string& line) {
  auto found = of_.find(line.substr(0, line.find(": ")));
  if (found == of_.end()) found = of_.find("");
  auto& [name, amount] = *found;
  const std::uint64_t bytes = line.size() + 1;
  if (amount.left_out_lines == 0 && amount.shown_bytes + bytes <= kMostBytes) {
    amount.shown_bytes += bytes;
    return say_(line);
  }
  if (amount.left_out_lines == 0) {
    say_(fmt::format("{}printed more than {} KiB; the rest is left out", begin_of(name), kMostBytes >> 10));
  }
  ++amount.left_out_lines;
  amount.left_out_bytes += bytes;
}

void AnalysisOutput::end() {
  for (auto& [name, amount] : of_) {
    const Amount left = std::exchange(amount, {});
    if (left.left_out_lines == 0) continue;
    say_(fmt::format("{}left out: {} of output ({} KiB)", begin_of(name), counted(left.left_out_lines, "line"),
                     with_separators((left.left_out_bytes + 1023) >> 10)));
  }
}

}  // namespace ringside
