// SPDX-License-Identifier: BSD-3-Clause
#include "node/benches/clock_bench.hpp"

#include <cstdint>
#include <numeric>

#include "common/platform/clock.hpp"
#include "node/benches/openmp_groups.hpp"

namespace ringside {
namespace {

constexpr int kSamples = 5;
constexpr int kChains = 100'000;
constexpr int kMultiplications = 16;  // the number of multiplications in a chain
constexpr int kCycles = 3;            // the cycles that a multiplication takes

double clock_ghz_here() noexcept {
  std::uint64_t value = 3;
  const std::int64_t begun = now_ns();
  for (int chain = 0; chain < kChains; ++chain) {
    for (int i = 0; i < kMultiplications; ++i) asm volatile("imulq %0, %0" : "+r"(value));
  }
  const auto ns = static_cast<double>(now_ns() - begun);
  return static_cast<double>(kChains) * kMultiplications * kCycles / ns;
}

}  // namespace

void measure_clock(const std::vector<int>& cpus, std::vector<double>& samples) {
  run_openmp_groups({{cpus, [&](Team& team) -> GroupWork {
                        return [&] {
                          std::vector<double> ghz(cpus.size());
                          for (int n = -1; n < kSamples; ++n) {  // the first one warms up
                            team.share(ghz.size(),
                                       [&](std::uint64_t thread, int) noexcept { ghz[thread] = clock_ghz_here(); });
                            const double sum = std::accumulate(ghz.begin(), ghz.end(), 0.0);
                            if (n >= 0) samples.push_back(sum / static_cast<double>(ghz.size()));
                          }
                        };
                      }}});
}

}  // namespace ringside
