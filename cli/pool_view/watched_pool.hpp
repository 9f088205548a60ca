// SPDX-License-Identifier: BSD-3-Clause
// A pool that a page reads repeatedly while other processes create, wipe or replace it, and the state of its slots. If
// the path names a new file, that file is opened. This process survives every change of the file, also a truncation.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/pool_reader/ring_reader.hpp"

namespace ringside {

/// Only one thread may use an object of this class.
class WatchedPool {
 public:
  /// The pool at this path; null if it cannot be read: `why` then has the reason. Valid until the next call.
  const RingReader* at(const std::string& path);

  /// The reason in one line, after `at` returned null.
  const std::string& why() const noexcept { return why_; }

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::optional<RingReader> reader_;
  std::string why_;
};

/// The state of a slot at one moment, from its header alone.
struct RingSlot {
  std::uint32_t slot = 0;
  SlotState state = SlotState::kEmpty;
  std::uint64_t commit_seq = 0;  // this and the iteration are set only if the slot is kCommitted
  std::uint64_t iteration = 0;
  std::optional<SlotUse> use;  // empty: the file system has no leases
};

struct RingSlots {
  static constexpr std::size_t kMost = 512;  // the most slots that a page shows

  std::uint32_t count = 0;      // number of slots of the ring
  std::uint32_t used = 0;       // number of slots that keep an iterate
  std::vector<RingSlot> slots;  // the newest kMost, by ascending commit_seq; slots without an iterate are last
};

RingSlots slots_of(const RingReader& reader);

}  // namespace ringside
