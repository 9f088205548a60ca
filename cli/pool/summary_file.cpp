// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/summary_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"

namespace ringside {

std::optional<std::string> read_json_object(const std::string& path, std::string_view expected) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // a summary has about 2 KiB
  const RegularFile file = open_input(path);
  if (!file.valid()) {
    throw usage_error("{}: cannot be opened: {}; expected {}", path, file.why(), expected);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(file.fd.get(), buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("{}: cannot be read: {}", path, errno_text(errno));
    text.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] != '{') return std::nullopt;
    if (text.size() > kMostBytes) {
      throw usage_error("{}: more than {} bytes; expected {}", path, kMostBytes, expected);
    }
  }
  return text.find('{') == std::string::npos ? std::nullopt : std::optional(text);
}

Json parse_summary(const std::string& text, const std::string& path) {
  Json summary = Json::try_parse(text);
  if (summary.is_discarded()) {
    throw usage_error("{}: neither a pool nor a summary; expected what `ringside run` left, or its --summary", path);
  }
  return summary;
}

void check_summary(const Json& summary, const std::string& path) {
  if (summary.is_object() && summary.contains("run_id") && summary.contains("generate_s")) return;
  throw usage_error("{}: this JSON is no summary of `ringside run`: it has no run_id and generate_s", path);
}

}  // namespace ringside
