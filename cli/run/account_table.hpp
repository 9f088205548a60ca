// SPDX-License-Identifier: BSD-3-Clause
// The account of a run: the summary for programs, combined from the reports of the two processes, and the closing table
// for the user, made from the summary and the run's facts.
#pragma once

#include <cstdint>
#include <string>

#include "common/json/json.hpp"

namespace ringside {

/// The facts that `ringside run` itself contributes to the account of a run.
struct RunFacts {
  std::string mode;            // "pipeline", "dram"
  std::string pool;            // path
  std::string producer_cores;  // "0-3"
  std::string analyzer_cores;  // empty in mode dram
  std::string coordination;
  std::uint32_t buffers = 0;
  std::string durability;     // the requested durability
  bool elastic = false;       // whether waiting cores work for the other process
  int analyzer_restarts = 0;  // the number of analyzers that took over from a lost one
  bool pool_gone = false;     // whether the pool was deleted or moved away during the run
  std::string program = {};   // the program of the ranks or of the user, with its arguments; empty: a built-in solver
  int ranks = 0;              // the number of ranks, and of their nodes; 0: this process did not start ranks
  int nodes = 0;
  Json analyses = Json::array();  // the value of the summary's key `analyses`
};

/// One JSON object with the keys of `--summary` (docs/inside/architecture.md lists them), in a fixed order. `producer`
/// and `analyzer` are the last figures of each process; a figure that was never reported is null.
Json make_summary(const RunFacts& facts, const Json& producer, const Json& analyzer);

/// The closing table, several lines.
std::string account_table(const Json& summary, const RunFacts& facts);

}  // namespace ringside
