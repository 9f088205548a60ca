// SPDX-License-Identifier: BSD-3-Clause
// The main function of a benchmark: the options, and the JSON that is written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"

namespace ringside::bench {

class BenchProgram {
 public:
  /// The program bench_NAME, with the help text `help`.
  BenchProgram(std::string name, const std::string& help);

  CommandLine line;  // the benchmark declares its options here; run() adds -o

  /// Parses the options, calls `measure` with {"benchmark", "machine"}, and writes the report. Returns the exit code;
  /// an error becomes one line on standard error.
  int run(int argc, char** argv, const std::function<void(Json& report)>& measure);

 private:
  std::string name_;
};

/// The time in milliseconds since now_ns() returned begin_ns.
double milliseconds_since(std::int64_t begin_ns);

}  // namespace ringside::bench
