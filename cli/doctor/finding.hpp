// SPDX-License-Identifier: BSD-3-Clause
// One finding of `ringside doctor`. A probe reads only the files that its arguments name, so that a test can give it
// the files of any node: `root` is put before /sys, /proc and /etc ("" on a real node).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ringside {

enum class Verdict {
  kOk,
  kNote,    // a run works, but something could be better or should be known
  kProblem  // a run would fail, or could not keep what it promises
};

/// One line of the report. `facts` are the values behind the verdict, for programs; their keys name the units.
struct Finding {
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
  std::string topic;  // "cores", "dax", ...: unique in a report
  Verdict verdict = Verdict::kOk;
  std::string found;   // for people
  std::string advice;  // what to change, with the commands between backticks; "" if there is nothing to do
  std::vector<std::pair<std::string, Value>> facts;
};

inline constexpr double kGigabyte = 1e9;

/// The finding of a probe whose file cannot be read.
inline Finding unknown(const std::string& topic, const std::string& where) {
  return {topic, Verdict::kNote, "n/a: " + where + " cannot be read", "", {}};
}

}  // namespace ringside
