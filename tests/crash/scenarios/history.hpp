// SPDX-License-Identifier: BSD-3-Clause
// The facts that are known outside a pool at one moment of a trace: the iterates handed to the ring, and the ring's
// acknowledgements. An image that a power cut leaves is judged only by these facts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/crash/images/trace.hpp"

namespace ringside::crash {

/// One iterate that was handed to the ring.
struct Iterate {
  std::uint32_t run = 0;
  std::uint64_t iteration = 0;
  std::uint64_t commit_seq = 0;  // 0 until its commit was acknowledged
  bool persisted = false;        // reported to survive power loss
  bool recorded = false;         // its reductions are recorded
  bool recorded_persisted = false;
  bool given_up = false;   // its slot may be overwritten
  bool held = false;       // a reader holds or held its slot, so newer iterates may be overwritten first
  bool clearing = false;   // its removal or its discarding has begun ...
  bool forgotten = false;  // ... and that was acknowledged
  bool gone_back_to = false;  // its run went back to this iterate: the next commit number may be larger by more than 1
};

/// An intact iterate that was found in an image.
struct Found {
  std::uint32_t run = 0;
  std::uint64_t iteration = 0;
  std::uint64_t commit_seq = 0;
  bool recorded = false;  // its reductions are recorded
};

class History {
 public:
  void apply(const Event& event);

  /// Call after a power cut, with `found`, the iterates that the pool has now. A lost iterate is no longer expected. An
  /// iterate in the pool that was not acknowledged is expected as soon as a new owner has begun to use the pool.
  void cut_off(std::span<const Found> found);

  bool formatted() const noexcept { return formatted_; }
  bool clearing() const noexcept { return clearing_; }
  /// The number of iterates that were committed since the ring was empty.
  std::uint64_t committed_since_empty() const noexcept { return committed_since_empty_; }
  /// The runs for which begin_run was called, and the runs for which it has returned; the newest run is last.
  const std::vector<std::uint32_t>& begun_or_beginning() const noexcept { return beginning_; }
  const std::vector<std::uint32_t>& begun() const noexcept { return begun_; }
  const std::vector<Iterate>& iterates() const noexcept { return iterates_; }
  const Iterate* find(std::uint32_t run, std::uint64_t iteration) const noexcept;

 private:
  Iterate& of(std::uint32_t run, std::uint64_t iteration);
  void go_back(const Event& event);

  std::vector<Iterate> iterates_;
  std::vector<std::uint32_t> beginning_;
  std::vector<std::uint32_t> begun_;
  std::uint64_t committed_since_empty_ = 0;
  bool formatted_ = false;
  bool clearing_ = false;
};

}  // namespace ringside::crash
