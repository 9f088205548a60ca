// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/terminal/format.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/clock.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kTerminalIntervalNs = 200'000'000;
constexpr std::int64_t kPlainIntervalNs = 2'000'000'000;

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

ProgressLine::ProgressLine(bool shown, bool in_place)
    : shown_(shown),
      in_place_(in_place && terminal_.on_terminal()),
      begun_at_ns_(now_ns()),
      drawn_at_ns_(begun_at_ns_) {}

void ProgressLine::wait_for(const std::string& text) {
  waiting_ = text;
  begun_at_ns_ = now_ns();
}

std::string ProgressLine::line(const Json& producer, const Json& analyzer, double seconds) {
  const auto rate = [&](const Json& now, const Json& before, const char* key) {
    return seconds > 0 ? (number(now, key) - number(before, key)) / seconds : 0.0;
  };
  // The baseline publishes nothing: its steps are its iterations.
  const bool pipeline = analyzer.is_object();
  const double steps_per_s =
      pipeline ? rate(analyzer, analyzer_before_, "steps_committed") : rate(producer, producer_before_, "iterations");
  std::string text = "iteration " + with_separators(static_cast<std::uint64_t>(number(producer, "iterations")));
  // A program of the user need not publish the change of its iterates.
  if (producer.contains("residual_l1") && producer["residual_l1"].is_number()) {
    text += fmt::format("  L1 {:.1e}", number(producer, "residual_l1"));
  }
  text += fmt::format("  {:.1f} steps/s", steps_per_s);
  if (pipeline) {
    text += fmt::format("  {:.2f} GB/s  idle P {:.0f} A {:.0f} %",
                        rate(analyzer, analyzer_before_, "bytes_transferred") * 1e-9,
                        100 * std::clamp(rate(producer, producer_before_, "producer_idle_s"), 0.0, 1.0),
                        100 * std::clamp(rate(analyzer, analyzer_before_, "analyzer_idle_s"), 0.0, 1.0));
  }
  const double left = number(producer, "iterations_left");
  const double iterations_per_s = rate(producer, producer_before_, "iterations");
  if (left > 0 && iterations_per_s > 0) text += "  ETA " + duration(left / iterations_per_s);
  return text;
}

void ProgressLine::update(const Json& producer, const Json& analyzer) {
  if (!shown_) return;
  const std::int64_t now = now_ns();
  if (now - drawn_at_ns_ < (in_place_ ? kTerminalIntervalNs : kPlainIntervalNs)) return;
  const double seconds = static_cast<double>(now - drawn_at_ns_) * 1e-9;
  // Loading a large matrix takes long, and the producer reports no iterations before the matrix is loaded.
  std::string text = number(producer, "iterations") > 0
                         ? line(producer, analyzer, seconds)
                         : waiting_ + ", " + duration(static_cast<double>(now - begun_at_ns_) * 1e-9);
  producer_before_ = producer;
  analyzer_before_ = analyzer;
  drawn_at_ns_ = now;
  if (in_place_) {
    terminal_.show(std::move(text));
  } else {
    write_standard_error(text + "\n");
  }
}

}  // namespace ringside
