// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/iterate_source.hpp"

#include <fcntl.h>

#include <cerrno>

#include "common/options/options.hpp"
#include "common/platform/error.hpp"

namespace ringside {

IterateSource::IterateSource(Solver& solver)
    : solver_(solver),
      geometry_{.buffers = kBuffers, .payload_bytes = solver.variables().payload_bytes()},
      memory_(SharedMapping::create("ringside-calibrate", geometry_.total_bytes(), PeerAccess::kReadOnly)) {
  UniqueFd duplicate(fcntl(memory_.fd(), F_DUPFD_CLOEXEC, 0));
  if (!duplicate.valid()) throw system_error("cannot share the memory of iterates: {}", errno_text(errno));
  readers_ = SharedMapping::adopt(std::move(duplicate), geometry_.total_bytes(), PeerAccess::kReadOnly);
  for (const SharedMapping* mapping : {&memory_, &readers_}) {
    for (std::uint32_t b = 0; b < kBuffers; ++b) {
      mapping->populate(geometry_.buffer_offset(b), geometry_.payload_bytes);
    }
  }
  begin();
}

double* IterateSource::buffer(std::uint32_t index) const noexcept {
  return reinterpret_cast<double*>(memory_.data() + geometry_.buffer_offset(index));
}

const double* IterateSource::as_read(std::uint32_t index) const noexcept {
  return reinterpret_cast<const double*>(readers_.data() + geometry_.buffer_offset(index));
}

void IterateSource::begin() noexcept {
  const std::uint32_t index = other_buffer();
  solver_.start(buffer(index));
  solver_.prepare(buffer(index), {});
  newest_.store(made() * kBuffers + index);
  iteration_ = 0;
}

void IterateSource::begin_again_when_due() noexcept {
  if (iteration_ >= kFewIterations) begin();
}

/// A buffer that the reader does not hold and that is not the newest one, so that the reader will not hold it next.
std::uint32_t IterateSource::other_buffer() const noexcept {
  const std::uint32_t newest = newest_buffer();
  std::uint32_t index = 0;
  while (index == newest || index == held_.load()) ++index;
  return index;
}

void IterateSource::iterate(bool two_buffers) noexcept {
  const std::uint32_t previous = newest_buffer();
  const std::uint32_t next = !two_buffers ? other_buffer() : previous == 0 ? 1 : 0;
  if (solver_.iterate(buffer(previous), buffer(next)).broken_down) {
    broken_down_ = true;
    begin();
    newest_.store((made() + 1) * kBuffers + newest_buffer());
    return;
  }
  ++iteration_;
  newest_.store((made() + 1) * kBuffers + next);
}

IterateSource::Held IterateSource::hold() noexcept {
  // Sequentially consistent: if a buffer is still the newest after it was marked as held, `iterate` does not choose it.
  for (;;) {
    const std::uint64_t newest = newest_.load();
    const auto index = static_cast<std::uint32_t>(newest % kBuffers);
    held_.store(index);
    if (newest_.load() == newest) return {.payload = as_read(index), .number = newest / kBuffers};
  }
}

}  // namespace ringside
