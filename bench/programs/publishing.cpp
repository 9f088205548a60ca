// SPDX-License-Identifier: BSD-3-Clause
// The time that a solver in C++ needs to claim and publish a step with ringside.hpp. bench/python_costs.py runs it
// under `ringside run` and compares it with the same loop in Python:
//   bench_publishing FILE ROWS STEPS PACE_US READ_MEGABYTES
// writes a JSON list of nanoseconds to FILE. Each step first computes for PACE_US, so that a buffer is free, and during
// that time reads READ_MEGABYTES once.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "include/ringside.hpp"

int main(int argc, char** argv) {
  using std::chrono::steady_clock;
  if (argc != 6) {
    std::fputs("usage: bench_publishing FILE ROWS STEPS PACE_US READ_MEGABYTES\n", stderr);
    return 2;
  }
  const std::uint64_t rows = std::stoull(argv[2]), steps = std::stoull(argv[3]);
  const std::chrono::microseconds pace(std::stoll(argv[4]));
  const std::vector<double> read(std::stoull(argv[5]) * 125'000, 1.0);
  std::vector<std::int64_t> costs_ns;
  try {
    ringside::Writer run({.solver = "bench_publishing"}, {ringside::field<double>("x", {rows})});
    for (std::uint64_t k = 1; k <= steps; ++k) {
      const auto until = steady_clock::now() + pace;
      const double sum = std::accumulate(read.begin(), read.end(), 0.0);
      while (steady_clock::now() < until || sum < 0) {
      }
      const auto begin = steady_clock::now();
      if (!run.claim()) return 130;
      const std::span<double> x = run.buffer<double>(0);
      const auto claimed = steady_clock::now();
      std::fill(x.begin(), x.end(), static_cast<double>(k));
      const auto filled = steady_clock::now();
      run.publish(k);
      costs_ns.push_back(std::chrono::nanoseconds(claimed - begin + (steady_clock::now() - filled)).count());
    }
    run.detach();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_publishing: %s\n", error.what());
    return 1;
  }
  std::ofstream file(argv[1]);
  file << '[';
  for (std::size_t i = 0; i < costs_ns.size(); ++i) file << (i > 0 ? "," : "") << costs_ns[i];
  file << "]\n";
  return file.good() ? 0 : 3;
}
