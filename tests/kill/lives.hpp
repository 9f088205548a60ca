// SPDX-License-Identifier: BSD-3-Clause
// The settings in which processes are killed. A life begins without a pool; in a life, processes are killed many times.
// After a death that leaves no process alive, the pool is checked against the acknowledged iterations and the iterates
// that the solver must have written.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "common/kernels/hash.hpp"
#include "tests/kill/journal_check.hpp"
#include "tests/kill/pool_check.hpp"
#include "tests/kill/victim.hpp"

namespace ringside::testing {

/// The counts of the loop, over all lives.
struct Tally {
  std::map<std::string, std::uint64_t> kills;  // the number of kills of each victim
  std::uint64_t lives = 0;
  std::uint64_t checks = 0;            // checks of pools that no process uses
  std::uint64_t iterates_checked = 0;  // iterates compared bit for bit
  std::uint64_t acknowledged = 0;      // newest acknowledged iterations, summed over the checks
  std::uint64_t finished_runs = 0;     // runs that were killed and resumed, and ended like undisturbed runs
  std::uint64_t terms = 0;             // SIGTERMs: one at the end of each service
  std::uint64_t journals_checked = 0;  // while no process was alive
  std::uint64_t records_compared = 0;  // compared with the ring and with the records received live
  std::uint64_t steps_recorded = 0;
  std::uint64_t gaps_named = 0;    // records of the kind RecordsMissing
  std::uint64_t steps_named = 0;   // the number of steps in these gaps
  std::uint64_t unnamed_gaps = 0;  // commits with neither a record nor a RecordsMissing
  std::uint64_t sockets_left = 0;  // sockets left by services that ended on SIGTERM
  std::uint64_t hangs = 0;
  std::vector<std::string> violations;

  std::uint64_t all_kills() const;
};

struct Surroundings {
  std::string folder;  // for pools, sockets and logs
  std::string programs;
  bool quiet_disk = true;  // --durability process; else power
};

void remove_pool(const std::string& pool);  // and its journal

/// Call while no process is alive: the results for the pool also removes its journal go to the tally.
void check_at_rest(const std::string& pool, std::uint64_t acknowledged, const IsIterate& is_iterate,
                   const Published& published, Tally& tally);
void check_journal(const std::string& pool, const Published& published, bool complete, const Follower::Seen& seen,
                   Tally& tally);

void expect_to_end(Victim& victim, const char* name, Tally& tally);

/// Stops an analyzer with SIGTERM: it must exit with 0 and leave none of its sockets behind.
void end_service(Victim& analyzer, const std::string& socket, Tally& tally);

/// An analyzer as a service, and a producer that acknowledges its commits. One process or both are killed and started
/// again.
void live_as_a_service(const Surroundings& at, std::mt19937_64& random, int deaths, Tally& tally);

}  // namespace ringside::testing
