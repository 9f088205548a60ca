// SPDX-License-Identifier: BSD-3-Clause
// The analyzer logs events as key=value, for services and programs. `ringside run` prints only the sentence of those
// events that concern the user.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace ringside {

/// The text="..." of an event that concerns the user (records_missing, frozen …); empty for any other line.
inline std::optional<std::string> sentence_of(std::string_view log_line) {
  constexpr std::string_view kEvents[] = {" ringside-analyzer level=warning event=records_missing ",
                                          " ringside-analyzer level=warning event=frozen ",
                                          " ringside-analyzer level=warning event=freeze_without_room ",
                                          " ringside-analyzer level=error event=freeze_not_written "};
  constexpr std::string_view kText = " text=\"";
  const std::size_t text = log_line.find(kText);
  const auto is_in_line = [&](std::string_view event) { return log_line.find(event) != std::string_view::npos; };
  if (std::ranges::none_of(kEvents, is_in_line) || text == std::string_view::npos) return std::nullopt;
  log_line.remove_prefix(text + kText.size());
  const std::size_t end = log_line.rfind('"');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(log_line.substr(0, end));
}

}  // namespace ringside
