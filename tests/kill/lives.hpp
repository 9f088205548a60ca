// The two settings processes are killed in. A life begins with no pool and goes through many deaths; after those that
// leave nobody alive the pool is checked against what was acknowledged and what the solver must have written.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "common/hash.hpp"

namespace ringside::testing {

/// What the loop counts, over all lives.
struct Tally {
  std::map<std::string, std::uint64_t> kills;  // by victim
  std::uint64_t lives = 0;
  std::uint64_t checks = 0;            // of pools at rest
  std::uint64_t iterates_checked = 0;  // bit for bit
  std::uint64_t acknowledged = 0;      // newest acknowledged iterations, summed over the checks
  std::uint64_t finished_runs = 0;     // that were killed, resumed, and ended as if they were not
  std::uint64_t hangs = 0;
  std::vector<std::string> violations;

  std::uint64_t all_kills() const;
};

struct Surroundings {
  std::string folder;  // of pools, sockets, logs
  std::string programs;
  bool quiet_disk = true;  // --durability process; else power
};

/// An analyzer as a service, and a producer that acknowledges what it knows to be committed. Either is killed, and
/// started again; or both are.
void live_as_a_service(const Surroundings& at, std::mt19937_64& random, int deaths, Tally& tally);

/// `ringside run --resume` with PageRank, again and again until the run is done: its processes are killed one, two or
/// all at a time. Commits are acknowledged by a reader of the pool that is not killed.
class RunsThatResume {
 public:
  /// Solves the problem here first, without anything between the solver and its iterates.
  explicit RunsThatResume(const Surroundings& at);
  void live(std::mt19937_64& random, Tally& tally) const;

 private:
  std::vector<std::string> arguments(const std::string& pool, const std::string& coordination) const;

  Surroundings at_;
  std::vector<Id128> undisturbed_;  // hash of x_k at k
};

}  // namespace ringside::testing
