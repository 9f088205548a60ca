// SPDX-License-Identifier: BSD-3-Clause
#include "common/options/settings_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kExpected = "KEY = VALUE, as in `slots = 8`";

/// Whether the error means that the file is missing or is not a file. All other errors are caused by the system.
bool is_users_mistake(int error) {
  constexpr std::array kMistakes = {ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP, ENXIO, EINVAL};
  return std::find(kMistakes.begin(), kMistakes.end(), error) != kMistakes.end();
}

Error cannot_be_read(const std::string& name, int error) {
  const std::string text = fmt::format("{}: cannot be read ({})", name, errno_text(error));
  if (is_users_mistake(error)) return usage_error("{}, expected a file of settings", text);
  return system_error("{}, expected a file that this user may read", text);
}

std::string content_of(const std::string& path, const std::string& name) {
  const RegularFile file = open_input(path);
  if (!file.kind.empty()) throw usage_error("{}: {}, expected a file of settings", name, file.why());
  if (!file.valid()) throw cannot_be_read(name, file.error);
  std::string content;
  if (const int error = read_to_end(file.fd.get(), content, kMostBytes); error != 0) throw cannot_be_read(name, error);
  if (content.size() > kMostBytes) {
    throw usage_error("{}: found more than {} bytes, expected a file of settings", name, kMostBytes);
  }
  return content;
}

/// One line of the file, parsed from the left.
class Line {
 public:
  Line(std::string_view rest, std::size_t number, const std::string& name)
      : whole_(rest), rest_(rest), number_(number), name_(name) {}

  std::optional<Setting> setting() {
    refuse_control_characters();
    skip_blanks();
    if (is_over()) return std::nullopt;
    if (rest_.front() == '[') return table();
    Setting setting;
    setting.line = number_;
    setting.key = key();
    skip_blanks();
    if (rest_.empty() || rest_.front() != '=') throw fail("");
    rest_.remove_prefix(1);
    skip_blanks();
    if (is_over()) throw refuse("no value for '" + shortened(setting.key) + "'", kExpected);
    setting.is_array = rest_.front() == '[';
    setting.quoted = setting.is_array || is_quote();
    if (setting.is_array) {
      setting.more = array_of_texts(setting.key);
      setting.value = setting.more.front();
      setting.more.erase(setting.more.begin());
    } else {
      setting.value = setting.quoted ? quoted_text() : bare_value(setting.key);
    }
    skip_blanks();
    if (!is_over()) throw refuse("'" + shortened(rest_) + "' after the value", "nothing after the value but a comment");
    return setting;
  }

 private:
  /// Parses [NAME]: a table whose values are in the following lines.
  Setting table() {
    rest_.remove_prefix(1);
    skip_blanks();
    const std::size_t end = rest_.find_first_of(" \t]#");
    Setting table;
    table.key = rest_.substr(0, end);
    table.line = number_;
    table.is_table = true;
    rest_.remove_prefix(table.key.size());
    skip_blanks();
    const bool closed = rest_.starts_with(']');
    if (closed) rest_.remove_prefix(1);
    skip_blanks();
    if (table.key.empty() || !closed || !is_over()) {
      throw refuse("'" + shortened(whole_) + "'", "the name of a table in brackets, as in `[trigger]`");
    }
    return table;
  }

  bool is_over() const { return rest_.empty() || rest_.front() == '#'; }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

  Error refuse(const std::string& found, std::string_view expected) const {
    return usage_error("{}: line {}: found {}, expected {}", name_, number_, found, expected);
  }

  Error fail(const std::string& without) const {
    return refuse("'" + shortened(whole_) + "'",
                  std::string(kExpected) + (without.empty() ? "" : ", without " + without));
  }

  void refuse_control_characters() const {
    for (const char c : whole_) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
        throw refuse(fmt::format("the control character 0x{:02x}", byte), "text in UTF-8");
      }
    }
  }

  std::string key() {
    if (rest_.front() == '"' || rest_.front() == '\'') return quoted_text();
    const std::size_t end = std::min(rest_.find_first_of(" \t=#"), rest_.size());
    const std::string key(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (key.empty()) throw fail("");
    return key;
  }

  static bool is_plain(std::string_view value) {
    return value == "true" || value == "false" ||
           (!value.empty() && value.find_first_not_of("0123456789.") == std::string_view::npos);
  }

  /// Parses a value without quotes: digits, words and paths need none.
  std::string bare_value(const std::string& key) {
    if (rest_.front() == '{') {
      throw refuse(fmt::format("'{}' for '{}'", shortened(rest_), shortened(key)), "one value, not a table");
    }
    const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
    std::string value(rest_.substr(0, end));
    // `pool = run#1.pool` could mean run or run#1.pool, so such a line is refused. A number or a flag ends at a
    // comment.
    if (const std::size_t comment = value.find('#');
        comment != std::string::npos && is_plain(value.substr(0, comment))) {
      value.resize(comment);
    }
    if (value.find_first_of("\"'`,=[]{}\\#") != std::string::npos) {
      throw refuse(fmt::format("'{}' for '{}'", shortened(value), shortened(key)), "quotes around the value");
    }
    rest_.remove_prefix(value.size());
    return value;
  }

  bool is_quote() const { return !rest_.empty() && (rest_.front() == '"' || rest_.front() == '\''); }

  /// Parses ["...", '...'] on one line, with at least one text. A comma may follow the last one.
  std::vector<std::string> array_of_texts(const std::string& key) {
    const auto refused = [&] {
      return refuse(fmt::format("'{}' for '{}'", shortened(whole_), shortened(key)),
                    "one value, or an array of quoted texts on one line, as in `reduce-with = [\"A\", \"B\"]`");
    };
    std::vector<std::string> texts;
    rest_.remove_prefix(1);
    for (skip_blanks(); !rest_.starts_with(']'); skip_blanks()) {
      if (!is_quote()) throw refused();
      texts.push_back(quoted_text());
      skip_blanks();
      if (rest_.starts_with(',')) {
        rest_.remove_prefix(1);
      } else if (!rest_.starts_with(']')) {
        throw refused();
      }
    }
    if (texts.empty()) throw refused();
    rest_.remove_prefix(1);
    return texts;
  }

  /// Parses "..." with escapes, or '...' verbatim.
  std::string quoted_text() {
    const char quote = rest_.front();
    if (rest_.starts_with(std::string(3, quote))) {
      throw refuse("a text of several lines", "one line in single or double quotes");
    }
    rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty() && rest_.front() != quote) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (quote == '"' && c == '\\') {
        append_escaped(text);
      } else {
        text += c;
      }
    }
    if (rest_.empty()) throw refuse(fmt::format("no closing {} ", quote) + "in '" + shortened(whole_) + "'", "one");
    rest_.remove_prefix(1);
    return text;
  }

  void append_escaped(std::string& text) {
    constexpr std::string_view kLetters = "btnfr\"\\";
    constexpr std::string_view kMeant = "\b\t\n\f\r\"\\";
    const char letter = rest_.empty() ? '\0' : rest_.front();
    if (const std::size_t at = kLetters.find(letter); letter != '\0' && at != std::string_view::npos) {
      text += kMeant[at];
      rest_.remove_prefix(1);
      return;
    }
    const std::size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    std::uint32_t code = 0;
    if (digits == 0 || rest_.size() <= digits || !hexadecimal(rest_.substr(1, digits), code) || code == 0 ||
        code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw refuse("'\\" + shortened(rest_.substr(0, digits + 1)) + "' in double quotes",
                   "\\\\, \\\", \\n, \\t or \\uXXXX there (single quotes take every character as it is)");
    }
    append_utf8(text, code);
    rest_.remove_prefix(digits + 1);
  }

  static bool hexadecimal(std::string_view digits, std::uint32_t& code) {
    constexpr std::string_view kDigits = "0123456789abcdef0123456789ABCDEF";
    for (const char digit : digits) {
      const std::size_t value = kDigits.find(digit);
      if (value == std::string_view::npos) return false;
      code = code << 4 | static_cast<std::uint32_t>(value & 15);
    }
    return true;
  }

  static void append_utf8(std::string& text, std::uint32_t code) {
    const auto last_bits = [code](unsigned shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += {static_cast<char>(0xc0 | code >> 6), last_bits(0)};
    } else if (code < 0x10000) {
      text += {static_cast<char>(0xe0 | code >> 12), last_bits(6), last_bits(0)};
    } else {
      text += {static_cast<char>(0xf0 | code >> 18), last_bits(12), last_bits(6), last_bits(0)};
    }
  }

  std::string_view whole_;
  std::string_view rest_;
  std::size_t number_;
  const std::string& name_;
};

}  // namespace

namespace {

void add_to_table(Setting& table, const Setting& entry, const std::string& name) {
  if (!entry.quoted || entry.is_array) {
    throw usage_error(
        "{}: line {}: found '{}' with a value that is not a quoted text in the table [{}], expected NAME = \"TEXT\"; "
        "write settings of other kinds before the first table",
        name, entry.line, shortened(entry.key), shortened(table.key));
  }
  if (std::find(table.names.begin(), table.names.end(), entry.key) != table.names.end()) {
    throw usage_error("{}: line {}: found '{}' again in the table [{}], expected it once", name, entry.line,
                      shortened(entry.key), shortened(table.key));
  }
  if (table.names.empty()) {
    table.value = entry.value;
  } else {
    table.more.push_back(entry.value);
  }
  table.names.push_back(entry.key);
}

}  // namespace

std::vector<Setting> parse_settings(std::string_view text, const std::string& name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<Setting> settings;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::optional<Setting> setting = Line(line, number, name).setting();
    if (!setting) continue;
    if (!setting->is_table && !settings.empty() && settings.back().is_table) {
      add_to_table(settings.back(), *setting, name);
      continue;
    }
    const auto twin = std::find_if(settings.begin(), settings.end(),
                                   [&setting](const Setting& former) { return former.key == setting->key; });
    if (twin != settings.end()) {
      throw usage_error("{}: line {}: found '{}' again, expected it once (line {} has it, too)", name, number,
                        printable(setting->key), twin->line);
    }
    settings.push_back(std::move(*setting));
  }
  std::erase_if(settings, [](const Setting& setting) { return setting.is_table && setting.names.empty(); });
  return settings;
}

std::vector<Setting> read_settings(const std::string& path, const std::string& name) {
  return parse_settings(content_of(path, name), name);
}

}  // namespace ringside
