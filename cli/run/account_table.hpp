// The account of a run as people and programs see it: the summary's keys put together from what the two processes
// reported, and the closing table made from nothing but the summary.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace ringside {

/// What `ringside run` knows itself.
struct RunFacts {
  std::string mode;            // "pipeline", "dram"
  std::string pool;            // path
  std::string producer_cores;  // "0-3"
  std::string analyzer_cores;  // empty with mode dram
  std::string coordination;
  std::uint32_t buffers = 0;
  std::string durability;     // as asked for
  bool elastic = false;       // cores that waited worked for the other process
  int analyzer_restarts = 0;  // how many took over from one that was lost
  bool pool_gone = false;     // deleted or moved away during the run
};

/// One JSON object with the keys of `--summary` (docs/architecture.md lists them), in a fixed order. `producer` and
/// `analyzer` are the last lines each reported; what a process never reported is null.
nlohmann::ordered_json make_summary(const RunFacts& facts, const nlohmann::json& producer,
                                    const nlohmann::json& analyzer);

/// The closing table, several lines.
std::string account_table(const nlohmann::ordered_json& summary, const RunFacts& facts);

}  // namespace ringside
