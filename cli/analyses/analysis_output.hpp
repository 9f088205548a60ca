// SPDX-License-Identifier: BSD-3-Clause
// Passes the output of a file's functions on to standard error, up to a limit for each function. A function that prints
// without end must not fill the disk that holds a run's standard error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace ringside {

class AnalysisOutput {
 public:
  /// The limit for each function, and for output without a function's name (from started programs, or to descriptors).
  static constexpr std::uint64_t kMostBytes = 256u << 10;

  using Say = std::function<void(const std::string&)>;
  explicit AnalysisOutput(Say say) : say_(std::move(say)) {}

  /// From now on, lines that begin with `name` and a colon belong to that function.
  void add_function(const std::string& name) { of_.try_emplace(name); }
  void show(const std::string& line);
  /// Prints how much of each function's output was left out.
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
