// SPDX-License-Identifier: BSD-3-Clause
// Prices of European options by the closed formula (Black, Scholes, 1973), in several passes over one array of records.
// The work is the same as in PARSEC's program of this name (Bienia et al., PACT 2008): a stream with much arithmetic
// per byte.
#include <cmath>
#include <cstdint>
#include <numbers>

#include "bench/memory/far_array.hpp"
#include "bench/memory/random.hpp"
#include "bench/memory/workload.hpp"

namespace {

using namespace ringside::bench;

int passes = 3;

struct Contract {
  double spot;
  double strike;
  double rate;  // the continuous interest rate for a year
  double volatility;
  double years;
  double sign;  // 1: call, -1: put
};

double normal_below(double x) {
  return 0.5 * std::erfc(-x * (1 / std::numbers::sqrt2));
}

//   price = s (S N(s d1) - K exp(-r t) N(s d2)),  d1 = (ln(S/K) + (r + v^2/2) t) / (v sqrt t),  d2 = d1 - v sqrt t
double price_of(const Contract& of) {
  const double deviation = of.volatility * std::sqrt(of.years);
  const double d1 =
      (std::log(of.spot / of.strike) + (of.rate + 0.5 * of.volatility * of.volatility) * of.years) / deviation;
  const double d2 = d1 - deviation;
  return of.sign * (of.spot * normal_below(of.sign * d1) -
                    of.strike * std::exp(-of.rate * of.years) * normal_below(of.sign * d2));
}

Contract contract(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t state = mix(seed ^ mix(i));
  const auto between = [&](double low, double high) { return low + (high - low) * unit(state = mix(state)); };
  Contract made{};
  made.spot = between(20, 120);
  made.strike = made.spot * between(0.7, 1.3);
  made.rate = between(0.01, 0.1);
  made.volatility = between(0.05, 0.65);
  made.years = between(0.05, 1);
  made.sign = (state & 1) != 0 ? 1 : -1;
  return made;
}

Outcome measure(const Workload& workload) {
  const std::size_t n = workload.data_bytes / (sizeof(Contract) + sizeof(double));
  const auto contracts = far_array_of<Contract>(n);
  const auto prices = far_array_of<double>(n);
  arrays_reserved();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) contracts[i] = contract(workload.seed, i);
  std::vector<double> times_s;
  for (int pass = 0; pass < passes; ++pass) {
    times_s.push_back(timed_s([&] {
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < n; ++i) prices[i] = price_of(contracts[i]);
    }));
  }
  return {{{"pass_s", median_of(times_s)}, {"passes_s", spread_of(times_s)}, {"contracts", n}}, checksum_of(prices)};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv,
                     {"blackscholes", "Computes the prices of options whose data may be larger than DRAM",
                      count_option("--passes", passes, "Measured passes"), measure});
}
