// SPDX-License-Identifier: BSD-3-Clause
#include "bench/memory/workload.hpp"

#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "bench/memory/far_array.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"

namespace ringside::bench {
namespace {

// This process's resident bytes by kind, as the kernel counts them, and the number of its faults that waited for a
// device.
Json memory_of_process() {
  Json found;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key; status.ignore(1024, '\n')) {
    for (const char* wanted : {"VmHWM:", "RssAnon:", "RssFile:", "RssShmem:"}) {
      if (key != wanted) continue;
      std::uint64_t kib = 0;
      status >> kib;
      found[key.substr(0, key.size() - 1)] = kib * 1024;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  found["major_faults"] = usage.ru_majflt;
  found["minor_faults"] = usage.ru_minflt;
  return found;
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  CommandLine line(program.what + "; prints one line of JSON", "bench_memory_" + program.name);
  Workload workload;
  MemoryChoice memory;
  std::string data = "1G";
  line.option("--data", data, "Bytes of all arrays together")
      .value_name("SIZE")
      .check(size_within(1 << 16, std::uint64_t{1} << 42, "64K to 4096G"));
  line.option("--threads", workload.threads, "Threads").check(whole_number_within(1, 1024));
  line.option("--seed", workload.seed, "Seed of the data").check(whole_number_within(0, 1'000'000'000));
  line.option("--memory", memory.scheme, kMemorySchemes).value_name("SCHEME");
  line.option("--enter", memory.enter,
              "Write the process id to this file (cgroup.procs of a memory cgroup) after the arrays are allocated")
      .value_name("FILE");
  line.option("--timing", memory.timing,
              "Timing of far memory: none, or optane, which emulates 305 ns, reads at 4 GB/s, and writes at 2 GB/s")
      .check(one_of({"none", "optane"}));
  if (program.declare) program.declare(line);
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  try {
    workload.data_bytes = std::stoull(data);
    use_memory(memory);
    omp_set_dynamic(0);
    omp_set_num_threads(workload.threads);
    const Outcome outcome = program.measure(workload);
    char checksum[17];
    std::snprintf(checksum, sizeof checksum, "%016llx", static_cast<unsigned long long>(outcome.checksum));
    const Json report = {{"program", program.name},        {"memory", memory.scheme},
                         {"timing", memory.timing},        {"data_bytes", workload.data_bytes},
                         {"threads", workload.threads},    {"seed", workload.seed},
                         {"figures", outcome.figures},     {"checksum", checksum},
                         {"process", memory_of_process()}, {"account", memory_account()}};
    std::printf("%s\n", report.dump_sorted().c_str());
    std::fflush(stdout);
    end_memory();
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_memory_%s: %s\n", program.name.c_str(), error.what());
    return static_cast<int>(error.code());
  }
}

std::function<void(CommandLine&)> count_option(const char* name, int& count, const char* meaning) {
  return [=, &count](CommandLine& line) { line.option(name, count, meaning).check(whole_number_within(1, 1000)); };
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

Json spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {{"median", median_of(values)}, {"min", values.front()}, {"max", values.back()}};
}

}  // namespace ringside::bench
