// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/log.hpp"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "common/files/standard_streams.hpp"
#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// The priority of syslog at the beginning of a line, where systemd's journal reads it (sd-daemon(3)).
class Priority final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    const std::string_view priority = of(message.level);
    line.append(priority.data(), priority.data() + priority.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Priority>(); }

 private:
  static std::string_view of(spdlog::level::level_enum level) noexcept {
    switch (level) {
      case spdlog::level::critical:
      case spdlog::level::err: return "<3>";
      case spdlog::level::warn: return "<4>";
      case spdlog::level::info: return "<6>";
      default: return "<7>";
    }
  }
};

/// The text of a line, escaped: file names in it must not control a terminal or start a new line.
class Payload final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Payload>(); }
};

/// The value of a key, in quotes and on one line.
std::string quoted(std::string_view text) {
  std::string value = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') value += '\\';
    value += c;
  }
  return value + '"';
}

}  // namespace

void start_log(const std::string& program, const std::string& level) {
  const spdlog::level::level_enum wanted = spdlog::level::from_str(level);
  if (wanted == spdlog::level::off && level != "off") {
    throw usage_error("--log-level: found '{}', expected trace, debug, info, warning, error or off", level);
  }
  auto logger = spdlog::stderr_logger_mt(program);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Priority>('*').add_flag<Payload>('&').set_pattern(
      logs_to_journal() ? "%*level=%l %&" : "%Y-%m-%dT%H:%M:%S.%e%z %n level=%l %&");
  logger->set_formatter(std::move(formatter));
  logger->set_level(wanted);
  spdlog::set_default_logger(std::move(logger));
}

void write_log(LogLevel level, fmt::string_view format, fmt::format_args arguments) noexcept {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::info, spdlog::level::warn, spdlog::level::err};
  const spdlog::level::level_enum of_line = kLevels[static_cast<int>(level)];
  try {
    if (spdlog::should_log(of_line)) spdlog::log(of_line, std::string_view(fmt::vformat(format, arguments)));
  } catch (const std::exception&) {  // memory is short: the line is lost, and the program continues
  }
}

bool logs_to_journal() noexcept {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || fstat(STDERR_FILENO, &status) != 0) return false;
  char here[64];
  std::snprintf(here, sizeof here, "%ju:%ju", static_cast<std::uintmax_t>(status.st_dev),
                static_cast<std::uintmax_t>(status.st_ino));
  return std::string_view(stream) == here;
}

void print_failure(std::string_view program, int exit_code, std::string_view text) noexcept {
  try {
    if (logs_to_journal()) {
      // A requested stop is not a failure.
      const bool interrupted = exit_code == static_cast<int>(ExitCode::kInterrupted);
      fmt::print(stderr, "{} exit_code={} text={}\n",
                 interrupted ? "<6>level=info event=interrupted" : "<3>level=error event=failed", exit_code,
                 quoted(text));
    } else {
      fmt::print(stderr, "{}: {}\n", program, printable(text));
    }
  } catch (const std::exception&) {  // writing to standard error failed, or memory is short
    for (const char c : text) std::fputc(c >= ' ' && c < 0x7f ? c : '?', stderr);
    std::fputc('\n', stderr);
  }
}

void print_notice(std::FILE* stream, std::string_view text, std::string_view event) {
  if (logs_to_journal()) {
    write_standard_error(fmt::format("<6>level=info {}\n", printable(event)));
  } else if (stream == stderr) {
    write_standard_error(fmt::format("{}\n", printable(text)));
  } else {
    write_standard_output(fmt::format("{}\n", printable(text)));
  }
}

}  // namespace ringside
