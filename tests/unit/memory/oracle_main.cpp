// SPDX-License-Identifier: BSD-3-Clause
// memory_oracle FOLDER SIGNAL|THREAD COPY_ONLY GRANULE OPERATIONS [THREADS [SEED [IN_PLACE]]]: the comparison with plain memory
// for as long as one likes.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/unit/memory/oracle.hpp"

int main(int count, char** arguments) {
  if (count < 6) {
    std::fprintf(stderr, "memory_oracle FOLDER signal|thread COPY_ONLY GRANULE OPERATIONS [THREADS [SEED [IN_PLACE]]]\n");
    return 2;
  }
  ringside_memory_options options{};
  options.struct_bytes = sizeof options;
  options.far_folder = arguments[1];
  options.faults =
      std::strcmp(arguments[2], "thread") == 0 ? RINGSIDE_MEMORY_FAULTS_THREAD : RINGSIDE_MEMORY_FAULTS_SIGNAL;
  options.copy_only = static_cast<uint32_t>(std::atoi(arguments[3]));
  options.granule_bytes = static_cast<uint32_t>(std::atoi(arguments[4]));
  options.dram_bytes = uint64_t{64} * (options.granule_bytes > 65536 ? options.granule_bytes : 65536);
  options.far_bytes = uint64_t{256} << 20;
  ringside::testing::OracleRun run;
  run.operations = std::strtoull(arguments[5], nullptr, 10);
  if (count > 6) run.threads = std::atoi(arguments[6]);
  if (count > 7) run.seed = std::strtoull(arguments[7], nullptr, 10);
  if (count > 8) options.in_place = static_cast<uint32_t>(std::atoi(arguments[8]));
  if (ringside_memory_start(&options) != 0) {
    std::fprintf(stderr, "%s\n", ringside_memory_error());
    return 3;
  }
  uint64_t accesses = 0;
  const std::string found = ringside::testing::compare_with_plain_memory(options, run, &accesses);
  struct ringside_memory_stats stats {};
  stats.struct_bytes = sizeof stats;
  ringside_memory_stats(&stats);
  std::printf("%s: %llu loads and stores, %llu faults, %llu evicted, %llu busy, %llu promoted, peak %llu of %llu bytes\n",
              found.empty() ? "same" : found.c_str(), static_cast<unsigned long long>(accesses),
              static_cast<unsigned long long>(stats.faults),
              static_cast<unsigned long long>(stats.evicted), static_cast<unsigned long long>(stats.busy), static_cast<unsigned long long>(stats.promotions),
              static_cast<unsigned long long>(stats.dram_peak_bytes),
              static_cast<unsigned long long>(stats.dram_limit_bytes));
  ringside_memory_stop();
  return found.empty() ? 0 : 1;
}
