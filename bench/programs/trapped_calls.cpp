// SPDX-License-Identifier: BSD-3-Clause
// The time that libringside_memory's filter and handler add to a system call: without the filter, with it on ordinary
// memory (which the filter permits), and on memory of the arena that is in DRAM. Page faults are excluded:
// bench/memory/misses.cpp measures them.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "bench/programs/bench_program.hpp"
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
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("trapped_calls", "Measures what the filter and the handler of system calls cost. Prints JSON.");
  std::string folder = "/dev/shm";
  program.line.option("--calls", calls, "Calls that are timed together").check(whole_number_within(1, 100'000'000));
  program.line.option("--repeats", repeats, "Measured repeats").check(whole_number_within(1, 10'000));
  program.line.option("--folder", folder, "Folder of the far memory and of the file that is read").value_name("FOLDER");
  return program.run(argc, argv, [&](Json& report) {
    pin_to_core(first_allowed_core());
    report["calls"] = measured(folder);
  });
}
