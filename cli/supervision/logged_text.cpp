// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/logged_text.hpp"

namespace ringside {

std::optional<std::string> sentence_of(std::string_view log_line) {
  constexpr std::string_view kEvent = " ringside-analyzer level=warning event=records_missing ";
  constexpr std::string_view kText = " text=\"";
  const std::size_t text = log_line.find(kText);
  if (log_line.find(kEvent) == std::string_view::npos || text == std::string_view::npos) return std::nullopt;
  log_line.remove_prefix(text + kText.size());
  const std::size_t end = log_line.rfind('"');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(log_line.substr(0, end));
}

}  // namespace ringside
