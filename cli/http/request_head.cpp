// SPDX-License-Identifier: BSD-3-Clause
#include "cli/http/request_head.hpp"

#include <algorithm>
#include <charconv>

namespace ringside {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kDigits = "0123456789";

/// Whether `text` is a "token" (RFC 9110), as methods and field names must be.
bool is_token(std::string_view text) noexcept {
  constexpr std::string_view kLetters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < ' ' && c != '\t') || byte == 0x7f;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_named(std::string_view name, std::string_view lower_case) noexcept {
  return std::equal(name.begin(), name.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return lower(a) == b; });
}

std::string_view trimmed(std::string_view value) noexcept {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return value;
}

/// What the fields read so far specify about the request's body and host.
struct Fields {
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;
  bool has_body = false;
};

std::optional<HeadFault> fault_in_request_line(std::string_view line, bool& is_1_1) noexcept {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  constexpr HeadFault kFault{400, "request line: expected METHOD /PATH HTTP/1.1, with one space between them"};
  if (first == std::string_view::npos || first == last) return kFault;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  is_1_1 = version == "HTTP/1.1";
  const bool visible = std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 0x7f; });
  const bool well_formed = is_token(line.substr(0, first)) && target.starts_with('/') && visible;
  if (!well_formed || (!is_1_1 && version != "HTTP/1.0")) return kFault;
  return std::nullopt;
}

std::optional<HeadFault> fault_in_field(std::string_view line, Fields& fields) noexcept {
  if (line.starts_with(' ') || line.starts_with('\t')) {
    return HeadFault{400, "found a header that continues in the next line (obsolete line folding), expected one line"};
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_token(name)) {
    return HeadFault{400, "header: expected NAME: VALUE, without a space before the colon"};
  }
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (is_named(name, "host")) {
    ++fields.hosts;
    if (value.find_first_of(" \t,") != std::string_view::npos) return HeadFault{400, "Host: expected one name"};
  } else if (is_named(name, "content-length")) {
    ++fields.lengths;
    if (value.empty() || value.find_first_not_of(kDigits) != std::string_view::npos) {
      return HeadFault{400, "Content-Length: expected one number"};
    }
    fields.has_body = value.find_first_not_of('0') != std::string_view::npos;
  } else if (is_named(name, "transfer-encoding")) {
    ++fields.encodings;
  }
  return std::nullopt;
}

/// Returns the text before the first `separator`. Removes this text and the separator from `rest`.
std::string_view next_part(std::string_view& rest, std::string_view separator) noexcept {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + separator.size()));
  return part;
}

enum class Plus { kIsPlus, kIsBlank };  // '+' means a blank in a query (HTML forms), but a plus sign in a path

/// Decodes percent-encoded characters. A '%' that is not followed by two hexadecimal digits is kept.
std::string percent_decoded(std::string_view text, Plus plus) {
  std::string decoded;
  while (!text.empty()) {
    const char* const digits = text.data() + 1;
    unsigned char byte = 0;
    if (text.front() == '%' && text.size() > 2 && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += static_cast<char>(byte);
      text.remove_prefix(3);
    } else {
      decoded += text.front() == '+' && plus == Plus::kIsBlank ? ' ' : text.front();
      text.remove_prefix(1);
    }
  }
  return decoded;
}

}  // namespace

std::optional<std::size_t> head_length(std::string_view bytes) noexcept {
  const std::size_t end = bytes.find(kHeadEnd);
  return end == std::string_view::npos ? std::nullopt : std::optional(end + kHeadEnd.size());
}

bool cannot_be_completed(std::string_view bytes) noexcept {
  for (std::size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    if (at == 0 || bytes[at - 1] != '\r') return true;
  }
  return false;
}

std::optional<HeadFault> fault_in(std::string_view head) noexcept {
  if (cannot_be_completed(head))
    return HeadFault{400, "found a line that ends without a carriage return, expected CR LF"};
  if (!head.ends_with(kHeadEnd)) return HeadFault{431, "the head of the request is too long"};
  bool is_1_1 = false;
  Fields fields;
  head.remove_suffix(kLineEnd.size());
  for (bool is_first = true; !head.empty(); is_first = false) {
    const std::string_view line = head.substr(0, head.find(kLineEnd));
    head.remove_prefix(line.size() + kLineEnd.size());
    if (std::any_of(line.begin(), line.end(), is_control)) {
      return HeadFault{400, "found a control character in the head of the request, expected none"};
    }
    const auto fault = is_first ? fault_in_request_line(line, is_1_1) : fault_in_field(line, fields);
    if (fault) return fault;
  }
  if (fields.hosts > 1) return HeadFault{400, "Host: found several of these headers, expected one"};
  if (fields.hosts == 0 && is_1_1) return HeadFault{400, "Host: found none, expected one"};
  if (fields.encodings > 0 && fields.lengths > 0) {
    return HeadFault{400, "found Content-Length and Transfer-Encoding, expected neither, because no body is accepted"};
  }
  if (fields.encodings > 0) return HeadFault{400, "Transfer-Encoding: expected none, because no body is accepted"};
  if (fields.lengths > 1) return HeadFault{400, "Content-Length: found several of these headers, expected at most one"};
  if (fields.has_body) return HeadFault{413, "Content-Length: expected 0, because no body is accepted"};
  return std::nullopt;
}

std::optional<std::string> RequestHead::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string_view RequestHead::field(std::string_view lower_case) const noexcept {
  for (const auto& [name, value] : fields) {
    if (is_named(name, lower_case)) return value;
  }
  return {};
}

RequestHead read_head(std::string_view head) {
  RequestHead request;
  std::string_view line = next_part(head, kLineEnd);
  request.method = next_part(line, " ");
  std::string_view target = next_part(line, " ");
  std::string_view query = next_part(target, "#");
  request.path = percent_decoded(next_part(query, "?"), Plus::kIsPlus);
  while (!query.empty()) {
    std::string_view value = next_part(query, "&");
    const std::string_view name = next_part(value, "=");
    if (name.empty()) continue;
    request.parameters.emplace_back(percent_decoded(name, Plus::kIsBlank), percent_decoded(value, Plus::kIsBlank));
  }
  while (!(line = next_part(head, kLineEnd)).empty()) {
    const std::string_view name = next_part(line, ":");
    request.fields.emplace_back(name, trimmed(line));
  }
  return request;
}

}  // namespace ringside
