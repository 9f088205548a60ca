// What a node offers, one small function a question. Each looks only at the files it is pointed to, so a test can show
// it a node of its own making: `root` is put before /sys and /proc ("" on a real node).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/topology.hpp"

namespace ringside {

enum class Verdict {
  kOk,
  kNote,    // works; something is worth knowing or would make it better
  kProblem  // a run would fail, or its promise would not hold
};

/// One line of the report. `facts` are what it was judged by, for machines; units are in the keys.
struct Finding {
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
  std::string topic;  // "cores", "dax", ...: unique in a report
  Verdict verdict = Verdict::kOk;
  std::string found;   // for people
  std::string advice;  // what to change, with the command; "" where there is nothing to do
  std::vector<std::pair<std::string, Value>> facts;
};

Finding probe_cores(const Machine& machine);
Finding probe_caches(const Machine& machine);
Finding probe_instructions();
Finding probe_memory(const std::string& root);
Finding probe_huge_pages(const std::string& root);
Finding probe_limits(const std::string& root);
Finding probe_clock(const std::string& root);
Finding probe_frequency(const std::string& root);
Finding probe_kernel(const std::string& root);
Finding probe_pmdk();
Finding probe_pmem(const std::string& root);

/// Where a pool lies or would lie: `place` is a pool file, a folder, or the name of a file to be made in a folder.
/// Makes nameless or at once deleted files there, and changes nothing else.
Finding probe_space(const std::string& place);
Finding probe_dax(const std::string& place);

}  // namespace ringside
