// SPDX-License-Identifier: BSD-3-Clause
// A program that publishes two variables whose values depend only on a seed. With "flip", one mantissa bit of one value
// of one iterate is inverted; the seed also selects this bit, and the program prints it: ITERATION VARIABLE ENTRY BIT.
// With "unit", the first variable has another unit. With "measured", each step has scalars that differ from run to run:
// the scalars of libringside_mpi, and one that the program defines.
//     flipped_program SEED [flip|unit|measured]
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include <ringside.hpp>
#include <unistd.h>

int main(int argc, char** argv) try {
  constexpr std::uint64_t kIterations = 6;
  std::mt19937_64 random(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  const std::string_view how = argc > 2 ? argv[2] : "";
  const bool flips = how == "flip";
  const std::uint64_t iteration = 1 + random() % kIterations;
  const bool in_second = random() % 2 == 1;
  const std::uint64_t bit = random() % 52;
  std::vector<double> u(60 * 70);
  std::vector<double> v(5000);
  const std::uint64_t entry = random() % (in_second ? v.size() : u.size());
  if (flips) {
    std::fprintf(stderr, "flipped %llu %s %llu %llu\n", static_cast<unsigned long long>(iteration), in_second ? "v" : "u",
                 static_cast<unsigned long long>(entry), static_cast<unsigned long long>(bit));
  }
  std::vector<ringside::Scalar> scalars;
  std::vector<ringside_value> values_of_run;
  if (how == "measured") {
    for (const char* name : {"took", "global_iteration", "waited_for_node", "waited_ns"}) {
      scalars.push_back({.name = name, .type = RINGSIDE_VALUE_I64});
      values_of_run.push_back(ringside::value(std::int64_t{getpid()}));
    }
  }
  ringside::Writer run({}, {ringside::field<double>("u", {60, 70}, how == "unit" ? "K" : ""), ringside::field<double>("v", {v.size()})},
                       scalars);
  for (std::uint64_t k = run.next_iteration(); k <= kIterations && run.claim(); ++k) {
    for (std::vector<double>* values : {&u, &v}) {
      for (double& value : *values) value = std::uniform_real_distribution<double>(-1, 1)(random);
    }
    if (flips && k == iteration) {
      double& value = (in_second ? v : u)[entry];
      value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << bit));
    }
    std::ranges::copy(u, run.buffer<double>(0).begin());
    std::ranges::copy(v, run.buffer<double>(1).begin());
    run.publish(k, values_of_run);
  }
  run.detach();
  return 0;
} catch (const ringside::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}
