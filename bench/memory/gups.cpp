// SPDX-License-Identifier: BSD-3-Clause
// Random updates of a table, counted as in the RandomAccess benchmark of HPC Challenge (Luszczek et al., 2005): each
// update reads a word, combines it with a random value by XOR and writes it. The places are uniform, or
// Zipf-distributed with exponent 0.99 as in YCSB (Cooper et al., SoCC 2010), with the popular words scattered over the
// table. The program computes the places outside the timed parts.

#include <atomic>

#include "bench/memory/far_array.hpp"
#include "bench/memory/random.hpp"
#include "bench/memory/workload.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"

namespace {

using namespace ringside::bench;

std::string distribution = "zipf";
std::uint64_t updates = 1'000'000;
std::uint64_t warm_updates = 1'000'000;

constexpr std::uint64_t kBlock = 1 << 16;  // the number of updates between two clock readings: 512 KiB of places

// The place of the `number`-th update depends only on the number, not on the thread.
std::uint64_t place(const Zipf& zipf, std::uint64_t words, std::uint64_t seed, std::uint64_t number) {
  std::uint64_t state = mix(seed ^ mix(number));
  if (distribution == "uniform") return below(words, state);
  const std::uint64_t rank = zipf.rank([&] { return state = mix(state); });
  return below(words, mix(rank));
}

double update_s(std::span<std::uint64_t> table, const std::vector<std::uint64_t>& places, std::uint64_t seed,
                int threads) {
  if (threads == 1) {
    return timed_s([&] {
      for (const std::uint64_t at : places) table[at] ^= mix(at ^ seed);
    });
  }
  return timed_s([&] {
#pragma omp parallel for schedule(static)
    for (const std::uint64_t at : places) {
      std::atomic_ref(table[at]).fetch_xor(mix(at ^ seed), std::memory_order_relaxed);
    }
  });
}

Outcome measure(const Workload& workload) {
  const std::uint64_t words = workload.data_bytes / sizeof(std::uint64_t);
  const auto table = far_array_of<std::uint64_t>(words);
  arrays_reserved();
#pragma omp parallel for schedule(static)
  for (std::uint64_t i = 0; i < words; ++i) table[i] = i;
  const Zipf zipf(words, 0.99);
  std::vector<std::uint64_t> places;
  double time_s = 0;
  for (std::uint64_t done = 0; done < warm_updates + updates; done += places.size()) {
    const std::uint64_t end = done < warm_updates ? warm_updates : warm_updates + updates;
    places.resize(std::min(kBlock, end - done));
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = place(zipf, words, workload.seed, done + i);
    const double block_s = update_s(table, places, workload.seed ^ done, workload.threads);
    if (done >= warm_updates) time_s += block_s;
  }
  return {{{"mop_per_s", static_cast<double>(updates) * 1e-6 / time_s}, {"distribution", distribution}},
          checksum_of(table)};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv,
                     {"gups", "Updates random words of a table that may be larger than DRAM",
                      [](ringside::CommandLine& line) {
                        line.option("--distribution", distribution, "uniform, or zipf with exponent 0.99")
                            .check(ringside::one_of({"uniform", "zipf"}));
                        line.option("--updates", updates, "Measured updates")
                            .check(ringside::whole_number_within(1, 1'000'000'000'000));
                        line.option("--warm-updates", warm_updates, "Updates before the measured ones")
                            .check(ringside::whole_number_within(0, 1'000'000'000'000));
                      },
                      measure});
}
