// SPDX-License-Identifier: BSD-3-Clause
// A process that commits steps to a pool as fast as it can, and a reader of that pool that works on steps in place.
// Each word of a step names its iteration and its place, so that a view with words of two steps is recognised.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

#include "common/pool_reader/ring_reader.hpp"

namespace ringside::bench {

/// Commits in a child process, which the destructor kills at any point of its work. Construct this object while the
/// process has only one thread.
class FastWriter {
 public:
  /// Makes a pool at `path` whose steps have `words` words. Returns when every slot holds a step. Throws Error (exit
  /// code 3).
  FastWriter(const std::filesystem::path& path, std::uint32_t slots, std::uint64_t words);
  ~FastWriter();
  FastWriter(const FastWriter&) = delete;
  FastWriter& operator=(const FastWriter&) = delete;

  std::uint64_t steps() const noexcept;
  std::uint64_t leases_broken() const noexcept;

 private:
  struct Shared;

  Shared* shared_ = nullptr;
  pid_t child_ = -1;
};

struct HeldViews {
  std::uint64_t held = 0;
  std::uint64_t refused = 0;      // not held, because the analyzer was taking the slot
  std::uint64_t intact = 0;       // the last check passed, and each word was the step's
  std::uint64_t overwritten = 0;  // the last check failed
  std::uint64_t torn = 0;         // the last check passed, but a word belonged to another step (an error)
  // The views that were held until the analyzer had committed twice as many steps as there are slots (they are also
  // counted above):
  std::uint64_t waited_intact = 0;
  std::uint64_t waited_overwritten = 0;
};

/// Holds `views` steps one after another, the newest and an old one in turn, and reads and checks each in place. Of
/// every `wait_every` steps (0: none), one is only half read when the hold waits until the analyzer has committed 2 K
/// steps. Throws Error (exit code 4) if no step is committed for a minute.
HeldViews hold_views(const RingReader& reader, std::uint64_t views, std::uint64_t wait_every);

}  // namespace ringside::bench
