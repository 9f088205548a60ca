// One answer of `ringside doctor`. The probes that give them look only at the files they are pointed to, so that a test
// can show them a node of its own making: `root` is put before /sys, /proc and /etc ("" on a real node).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
  std::string advice;  // what to change, with the commands between backticks; "" where there is nothing to do
  std::vector<std::pair<std::string, Value>> facts;
};

/// What to answer where a file that was to be asked cannot be read.
inline Finding unknown(const std::string& topic, const std::string& where) {
  return {topic, Verdict::kNote, "n/a: " + where + " cannot be read", "", {}};
}

}  // namespace ringside
