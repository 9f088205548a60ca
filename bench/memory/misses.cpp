// SPDX-License-Identifier: BSD-3-Clause
// Misses per second: the threads touch one word in each granule, in a random order that visits every granule once per
// round. If the data are four times as large as the DRAM, nearly every touch misses with any replacement policy. There
// are two rounds for each number of threads from 1 to --threads, so that one run measures how the rate grows with the
// threads.
#include <cstdint>

#include "bench/memory/far_array.hpp"
#include "bench/memory/random.hpp"
#include "bench/memory/workload.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"

namespace {

using namespace ringside::bench;

std::uint64_t granule_bytes = 4096;
std::uint64_t most_touches = 100'000;
bool stores = false;

// `threads` threads touch the granules first, first + 1, ... of the permutation. Returns the seconds, and adds the
// words to `sum`.
double round_s(std::span<std::uint64_t> words, const Permutation& order, std::uint64_t granules, std::uint64_t first,
               std::uint64_t touches, int threads, std::uint64_t& sum) {
  const std::uint64_t step = granule_bytes / sizeof(std::uint64_t);
  std::uint64_t read = 0;
  const double time_s = timed_s([&] {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : read)
    for (std::uint64_t i = 0; i < touches; ++i) {
      std::uint64_t& word = words[order((first + i) % granules) * step];
      read += word;
      if (stores) ++word;
    }
  });
  sum += read;
  return time_s;
}

Outcome measure(const Workload& workload) {
  const std::uint64_t granules = workload.data_bytes / granule_bytes;
  const auto words = far_array_of<std::uint64_t>(workload.data_bytes / sizeof(std::uint64_t));
  arrays_reserved();
  const std::uint64_t step = granule_bytes / sizeof(std::uint64_t);
  for (std::uint64_t i = 0; i < granules; ++i) words[i * step] = mix(workload.seed ^ i);
  const Permutation order(granules, workload.seed);
  const std::uint64_t touches = std::min(most_touches, granules);
  std::uint64_t checksum = 0;
  ringside::Json figures;
  std::uint64_t first = 0;
  const auto next_round = [&](int threads) {
    const double time_s = round_s(words, order, granules, first, touches, threads, checksum);
    first += touches;
    return static_cast<double>(touches) / time_s;
  };
  next_round(1);  // replaces the pages that the start left in DRAM
  // Two rounds with each number of threads, upwards and downwards, because the rate may drift.
  std::vector<double> rates(static_cast<std::size_t>(workload.threads), 0.0);
  for (int threads = 1; threads <= workload.threads; ++threads)
    rates[static_cast<std::size_t>(threads - 1)] += next_round(threads) / 2;
  for (int threads = workload.threads; threads >= 1; --threads)
    rates[static_cast<std::size_t>(threads - 1)] += next_round(threads) / 2;
  for (std::size_t t = 0; t < rates.size(); ++t) figures["touches_per_s_" + std::to_string(t + 1)] = rates[t];
  figures["most_threads_over_one"] = rates.back() / rates.front();
  figures["granule_bytes"] = granule_bytes;
  return {figures, checksum};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv,
                     {"misses", "Measures the misses per second for each number of threads",
                      [](ringside::CommandLine& line) {
                        line.option("--granule", granule_bytes, "Bytes between two touched words")
                            .check(ringside::whole_number_within(4096, 1 << 21));
                        line.option("--touches", most_touches, "Touched words per round")
                            .check(ringside::whole_number_within(1, 1'000'000'000));
                        line.flag("--stores", stores, "Also write each word");
                      },
                      measure});
}
