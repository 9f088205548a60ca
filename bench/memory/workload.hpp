// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the programs in this folder: the options, the timer of a part, and the line of JSON that each
// program prints. A program gets its large arrays from far_array.hpp, after the options have chosen the arrays' memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/memory/random.hpp"
#include "common/json/json.hpp"
#include "common/platform/clock.hpp"

namespace ringside {
class CommandLine;
}

namespace ringside::bench {

/// The options of every program.
struct Workload {
  std::uint64_t data_bytes = std::uint64_t{1} << 30;  // the total size of all large arrays
  int threads = 1;
  std::uint64_t seed = 1;
};

struct Outcome {
  Json figures;                // {name_unit: number}
  std::uint64_t checksum = 0;  // the checksum of the result: equal for every memory and every number of threads
};

struct Program {
  std::string name;
  std::string what;
  std::function<void(CommandLine&)> declare;  // declares the program's own options; may be empty
  std::function<Outcome(const Workload&)> measure;
};

/// Does all the work of main(): options, memory, measurement, JSON. Returns the exit code.
int run_program(int argc, char** argv, const Program& program);

/// For Program::declare: declares an option with a value from 1 to 1000.
std::function<void(CommandLine&)> count_option(const char* name, int& count, const char* meaning);

/// Runs `part`, and returns the seconds that it took.
template <class Part>
double timed_s(const Part& part) {
  const std::int64_t begin_ns = now_ns();
  part();
  return seconds(now_ns() - begin_ns);
}

/// The checksum: the sum of the elements' contributions.
template <class Elements>
std::uint64_t checksum_of(const Elements& elements) {
  std::uint64_t checksum = 0;
#pragma omp parallel for schedule(static) reduction(+ : checksum)
  for (std::size_t i = 0; i < elements.size(); ++i) checksum += checked(i, elements[i]);
  return checksum;
}

/// {median, min, max} of at least one value.
Json spread_of(std::vector<double> values);
double median_of(std::vector<double> values);

}  // namespace ringside::bench
