// SPDX-License-Identifier: BSD-3-Clause
// What libringside_memory's filter and handler add to a system call: without the filter, with it on ordinary memory (in
// which the filter lets it pass), and on memory of the arena that is in DRAM. Page faults are not in the figures:
// bench/memory/misses.cpp has them.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/error.hpp"
#include "memory/ringside_memory.h"

namespace ringside::bench {
namespace {

int calls = 20'000;
int repeats = 25;

template <typename Call>
Json timed(Call call) {
  std::vector<double> ns;
  for (int repeat = 0; repeat <= repeats; ++repeat) {  // the first one is the warm-up
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
      if (call() < 0) throw Error(ExitCode::kSystem, "a system call failed: " + std::string(std::strerror(errno)));
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (repeat > 0) ns.push_back(took.count() / calls);
  }
  return spread(ns, "ns");
}

Json all(int file, char* buffer) {
  const iovec segment{buffer, 4096};
  return {{"getpid", timed([] { return syscall(SYS_getpid); })},
          {"pread, 4 KiB", timed([&] { return pread(file, buffer, 4096, 0); })},
          {"preadv, 4 KiB", timed([&] { return preadv(file, &segment, 1, 0); })},
          {"pread, 64 KiB", timed([&] { return pread(file, buffer, 65536, 0); })}};
}

Json measured(const std::string& folder) {
  std::vector<char> ordinary(65536, 'x');
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (file < 0 || write(file, ordinary.data(), ordinary.size()) != static_cast<ssize_t>(ordinary.size()))
    throw Error(ExitCode::kSystem, "--folder " + folder + ": no file can be made there, expected a folder on tmpfs");
  Json report;
  report["without the filter"] = all(file, ordinary.data());
  ringside_memory_options options{};
  options.struct_bytes = sizeof options;
  options.far_folder = folder.c_str();
  options.dram_bytes = 4 << 20;
  options.far_bytes = 16 << 20;
  options.system_calls = 1;
  if (ringside_memory_start(&options) != 0) throw Error(ExitCode::kSystem, ringside_memory_error());
  report["with the filter, ordinary memory"] = all(file, ordinary.data());
  report["with the filter, the arena"] = all(file, static_cast<char*>(ringside_memory_alloc(ordinary.size())));
  ringside_memory_stop();
  close(file);
  return report;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  ringside::CommandLine line("What the filter and the handler of system calls cost; as JSON", "bench_trapped_calls");
  std::string output, folder = "/dev/shm";
  line.option("--calls", ringside::bench::calls, "Calls that are timed together")
      .check(ringside::whole_number_within(1, 100'000'000));
  line.option("--repeats", ringside::bench::repeats, "How often").check(ringside::whole_number_within(1, 10'000));
  line.option("--folder", folder, "Of the far memory and of the file that is read").value_name("FOLDER");
  line.option("-o,--output", output, "File for the JSON (default: standard output)").value_name("FILE");
  if (const auto code = ringside::parse_or_exit_code(line, argc, argv)) return *code;
  try {
    using namespace ringside::bench;
    ringside::Json report = {{"benchmark", "trapped_calls"}, {"machine", machine_header()}};
    pin_to_core(first_allowed_core());
    report["calls"] = measured(folder);
    write_json(report, output);
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "trapped_calls: %s\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
