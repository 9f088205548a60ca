// SPDX-License-Identifier: BSD-3-Clause
// The team for programs that use OpenMP. (libringside does not use it.)
#pragma once

#include <cstdint>

#include "common/threads/team.hpp"

namespace ringside {

/// Has as many threads as OpenMP has when the team is made, and divides work into as many pieces as threads. Thread p
/// takes piece p, so that each thread finds its data in its caches and on its NUMA node.
class OpenMpTeam final : public Team {
 public:
  OpenMpTeam() noexcept;
  int threads() const noexcept override { return threads_; }
  std::uint64_t pieces(std::uint64_t units, std::uint64_t grain) const noexcept override;

 private:
  void share_out(std::uint64_t pieces, Job job) noexcept override;

  int threads_;
};

}  // namespace ringside
