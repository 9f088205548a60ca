// SPDX-License-Identifier: BSD-3-Clause
// The leases that one reader has of a pool's slots. Locks of one open file description do not conflict with each other,
// so each reader has a description of its own and counts here how many of its steps hold each slot.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "common/files/slot_lease.hpp"
#include "common/platform/process.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// Any thread may call all functions. A child of fork() shares the parent's leases: there they do nothing.
class ReaderLeases {
 public:
  /// file: the pool's file, opened by this reader alone.
  ReaderLeases(UniqueFd file, std::uint32_t slots) : file_(std::move(file)), counts_(slots, 0) {}

  LeaseStatus take(std::uint32_t slot) noexcept;
  /// Ends one that was taken.
  void end(std::uint32_t slot) noexcept;

  /// The pool's file, for reading.
  int file() const noexcept { return file_.get(); }

  /// Number of steps that are held, of all slots.
  std::uint32_t held() const noexcept;

 private:
  const UniqueFd file_;
  const ForkMark mark_;
  mutable std::mutex mutex_;
  std::vector<std::uint32_t> counts_;  // by slot; guarded by mutex_
};

}  // namespace ringside
