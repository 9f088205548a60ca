// SPDX-License-Identifier: BSD-3-Clause
// What a file's functions print, on its way to standard error: as much of each function as a person may want to read. A
// function that prints without end must not fill the disk that a run's standard error goes to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace ringside {

class AnalysisOutput {
 public:
  /// Of each function, and of what names none: written to descriptors, or by programs that were started.
  static constexpr std::uint64_t kMostBytes = 256u << 10;

  using Say = std::function<void(const std::string&)>;
  explicit AnalysisOutput(Say say) : say_(std::move(say)) {}

  /// From now on lines that begin with `name` and a colon are those of that function.
  void add_function(const std::string& name) { of_.try_emplace(name); }
  void show(const std::string& line);
  /// Says how much was left out, of each.
  void end();

 private:
  struct Amount {
    std::uint64_t shown_bytes = 0;
    std::uint64_t left_out_lines = 0;
    std::uint64_t left_out_bytes = 0;
  };

  Say say_;
  std::map<std::string, Amount> of_ = {{"", {}}};
};

}  // namespace ringside
