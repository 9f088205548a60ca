// SPDX-License-Identifier: BSD-3-Clause
// The team for programs that use OpenMP. (libringside does not use it.)
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/threads/team.hpp"

namespace ringside {

/// Has as many threads as OpenMP has when the team is made. Each thread has its own range of pieces, always the same,
/// so that it finds its data in its caches and on its NUMA node. A thread that has taken all of its own pieces takes
/// those that others have not begun: beside another program, the threads are not equally fast.
class OpenMpTeam final : public Team {
 public:
  OpenMpTeam();
  int threads() const noexcept override { return static_cast<int>(ranges_.size()); }
  std::uint64_t pieces(std::uint64_t units, std::uint64_t grain) const noexcept override;

 private:
  /// The pieces of one thread. Each range has a cache line of its own.
  struct alignas(64) Range {
    std::atomic<std::uint64_t> next = 0;
    std::uint64_t end = 0;
  };

  void share_out(std::uint64_t pieces, Job job) noexcept override;

  std::vector<Range> ranges_;
};

}  // namespace ringside
