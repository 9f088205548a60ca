// SPDX-License-Identifier: BSD-3-Clause
// A team that assigns its pieces to threads at random, several to a thread and in any order, as happens where threads
// come and go (common/threads/elastic_team.hpp). What a crash leaves must not depend on which thread stored which
// word.
#pragma once

#include <cstdint>

#include "common/threads/team.hpp"
#include "tests/crash/images/random.hpp"

namespace ringside::crash {

class ScatteredTeam final : public Team {
 public:
  ScatteredTeam(int threads, std::uint64_t seed) noexcept : threads_(threads), random_(seed) {}

  int threads() const noexcept override { return threads_; }
  std::uint64_t pieces(std::uint64_t units, std::uint64_t grain) const noexcept override;

 private:
  void share_out(std::uint64_t pieces, Job job) noexcept override;

  int threads_;
  Random random_;
};

}  // namespace ringside::crash
