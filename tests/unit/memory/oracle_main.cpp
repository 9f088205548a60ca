// SPDX-License-Identifier: BSD-3-Clause
// memory_oracle FOLDER SIGNAL|THREAD COPY_ONLY GRANULE OPERATIONS [THREADS [SEED [IN_PLACE [TROUBLE [ROUNDS]]]]]: the
// comparison with ordinary memory, for any length of time. TROUBLE: a name in trouble.hpp; each round is then a
// separate process with another seed. `full` needs a small file system, `device` needs the folders of mount_own_disk.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/unit/memory/trouble.hpp"

namespace {

using ringside::testing::OracleRun;
using ringside::testing::Trouble;

int make_rounds(Trouble trouble, const ringside_memory_options& options, OracleRun run, int rounds) {
  uint64_t accesses = 0, refused = 0;
  for (int round = 0; round < rounds; ++round, ++run.seed) {
    const ringside::testing::Round ended = ringside::testing::round_with(trouble, options, run);
    accesses += ended.accesses;
    refused += ended.refused;
    if (ended.skipped.empty() && ended.wrong.empty()) continue;
    std::printf("seed %" PRIu64 ": %s%s\n", run.seed, ended.wrong.c_str(), ended.skipped.c_str());
    return ended.wrong.empty() ? 77 : 1;
  }
  std::printf("%d rounds as promised (%s): %" PRIu64 " loads and stores, %" PRIu64 " allocations refused\n", rounds,
              ringside::testing::kTroubleNames[static_cast<int>(trouble)], accesses, refused);
  return 0;
}

int make_one_here(const ringside_memory_options& options, const OracleRun& run) {
  if (ringside_memory_start(&options) != 0) {
    std::fprintf(stderr, "%s\n", ringside_memory_error());
    return 3;
  }
  ringside::testing::OracleCounts counts;
  const std::string found = ringside::testing::compare_with_plain_memory(options, run, &counts);
  struct ringside_memory_stats stats {};
  stats.struct_bytes = sizeof stats;
  ringside_memory_stats(&stats);
  std::printf("%s: %" PRIu64 " loads and stores, %" PRIu64 " faults, %" PRIu64 " evicted, %" PRIu64 " busy, %" PRIu64
              " promoted, peak %" PRIu64 " of %" PRIu64 " bytes\n",
              found.empty() ? "same" : found.c_str(), counts.accesses.load(), stats.faults, stats.evicted, stats.busy,
              stats.promotions, stats.dram_peak_bytes, stats.dram_limit_bytes);
  ringside_memory_stop();
  return found.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 6) {
    std::fprintf(stderr,
                 "memory_oracle FOLDER signal|thread COPY_ONLY GRANULE OPERATIONS [THREADS [SEED [IN_PLACE [TROUBLE "
                 "[ROUNDS]]]]]\n");
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
  OracleRun run;
  run.operations = std::strtoull(arguments[5], nullptr, 10);
  if (count > 6) run.threads = std::atoi(arguments[6]);
  if (count > 7) run.seed = std::strtoull(arguments[7], nullptr, 10);
  if (count > 8) options.in_place = static_cast<uint32_t>(std::atoi(arguments[8]));
  if (count <= 9) return make_one_here(options, run);
  int trouble = 0;
  for (const char* const name : ringside::testing::kTroubleNames) {
    if (std::strcmp(arguments[9], name) == 0)
      return make_rounds(static_cast<Trouble>(trouble), options, run, count > 10 ? std::atoi(arguments[10]) : 1);
    ++trouble;
  }
  std::fprintf(stderr, "memory_oracle: TROUBLE is %s, expected one of", arguments[9]);
  for (const char* const name : ringside::testing::kTroubleNames) std::fprintf(stderr, " %s", name);
  std::fprintf(stderr, "\n");
  return 2;
}
