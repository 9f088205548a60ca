// SPDX-License-Identifier: BSD-3-Clause
// The two settings in which whole runs are killed and resumed until they are done: `ringside run`, and the two
// services. Bits, ring and journal must equal those of an undisturbed run.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "common/kernels/hash.hpp"
#include "tests/kill/lives.hpp"

namespace ringside::testing {

/// PageRank with --resume, repeated until it is done.
class RunsThatResume {
 public:
  /// First solves the problem in this process, without producer and analyzer.
  explicit RunsThatResume(const Surroundings& at);
  void surround_with(const Surroundings& at) { at_ = at; }

  /// The setting `ringside run`: one, two or all of its processes are killed at the same time. A reader of the pool
  /// that is not killed acknowledges the commits.
  void live(std::mt19937_64& random, Tally& tally) const;

  /// The setting with `ringside-analyzer` and `ringside-producer` at a socket: one or both are killed. At the end, the
  /// service is stopped.
  void live_apart(std::mt19937_64& random, Tally& tally) const;

 private:
  /// The settings that are the same in all lives of a run.
  struct Run {
    std::string pool;
    std::string log;
    Published published;
  };
  Run any_run(const std::string& name, std::mt19937_64& random) const;
  std::vector<std::string> for_the_producer(const Run& run, std::mt19937_64& random) const;
  std::vector<std::string> for_the_analyzer(const Run& run, bool journal, std::mt19937_64& random) const;
  void check(const Run& run, std::uint64_t acknowledged, bool complete, const Follower::Seen& seen, Tally& tally) const;
  void check_done(const Run& run, Tally& tally) const;

  Surroundings at_;
  std::vector<Id128> undisturbed_;  // the hash of x_k, at index k
};

}  // namespace ringside::testing
