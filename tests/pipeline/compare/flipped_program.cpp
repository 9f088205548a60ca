// SPDX-License-Identifier: BSD-3-Clause
// A program that publishes two variables whose values follow from a seed. With "flip" one mantissa bit of one value of
// one iterate is another one; which, also follows from the seed, and is printed: ITERATION VARIABLE ENTRY BIT.
//     flipped_program SEED [flip]
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include <ringside.hpp>

int main(int argc, char** argv) try {
  constexpr std::uint64_t kIterations = 6;
  std::mt19937_64 random(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  const bool flips = argc > 2 && std::string_view(argv[2]) == "flip";
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
  ringside::Writer run({}, {ringside::field<double>("u", {60, 70}), ringside::field<double>("v", {v.size()})});
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
    run.publish(k);
  }
  run.detach();
  return 0;
} catch (const ringside::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}
