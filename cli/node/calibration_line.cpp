// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/calibration_line.hpp"

#include <fmt/format.h>

#include "common/files/standard_streams.hpp"
#include "common/platform/clock.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kRedrawNs = 200'000'000;
constexpr std::int64_t kNextLineNs = 10'000'000'000;

}  // namespace

void CalibrationLine::update(const CalibrationProgress& progress) {
  if (!shown_) return;
  const std::int64_t now = now_ns();
  if (drawn_at_ns_ != 0 && now - drawn_at_ns_ < (terminal_.on_terminal() ? kRedrawNs : kNextLineNs)) return;
  drawn_at_ns_ = now;
  const std::string text =
      fmt::format("calibrating {:2.0f} %  ETA {:.0f} s  {}", 100 * progress.done, progress.left_s, progress.what);
  if (terminal_.on_terminal()) {
    terminal_.show(text);
  } else {
    write_standard_error(text + "\n");
  }
}

}  // namespace ringside
