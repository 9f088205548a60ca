// SPDX-License-Identifier: BSD-3-Clause
#include "bench/programs/machine_header.hpp"

#include <omp.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "common/files/output_file.hpp"
#include "common/json/json.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/text/utc_text.hpp"

namespace ringside::bench {
namespace {

const std::string kNotAvailable = "n/a";

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? line : kNotAvailable;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return kNotAvailable;
}

std::string kernel() {
  utsname names{};
  return uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : kNotAvailable;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

/// The current commit of the source folder from which this program was built; "-dirty" means uncommitted changes.
std::string commit() {
  FILE* git = popen("git -C '" RINGSIDE_BENCH_SOURCE_DIR "' describe --always --dirty --abbrev=12 2>/dev/null", "r");
  if (git == nullptr) return kNotAvailable;
  char line[128] = {};
  const bool found = std::fgets(line, sizeof line, git) != nullptr;
  const bool succeeded = pclose(git) == 0;
  const std::string name(line);
  return found && succeeded ? name.substr(0, name.find('\n')) : kNotAvailable;
}

cpu_set_t allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) {
    throw system_error("cannot read the cores of this process: sched_getaffinity: {}", errno_text(errno));
  }
  return cores;
}

/// The cores that this process may use. Throws `Error` (exit code 2) if there are fewer than `threads`.
std::vector<int> cores_for(int threads) {
  static const cpu_set_t allowed = allowed_cores();  // read only once, because the main thread is pinned later
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) cores.push_back(core);
  }
  if (threads > static_cast<int>(cores.size())) {
    throw usage_error("--threads {}: this process may use only {} core(s), and a figure on shared cores means nothing",
                      threads, cores.size());
  }
  return cores;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

Json machine_header() {
  const cpu_set_t allowed = allowed_cores();
  double load[3] = {};
  const bool has_load = getloadavg(load, 3) == 3;
  return {{"cpu", cpu_model()},
          {"cores_online", sysconf(_SC_NPROCESSORS_ONLN)},
          {"cores_allowed", CPU_COUNT(&allowed)},
          {"governor", first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"kernel", kernel()},
          {"compiler", compiler()},
          {"flags", RINGSIDE_BENCH_FLAGS},
          {"commit", commit()},
          {"isa", std::string(to_string(selected_isa()))},
          {"load_average", has_load ? Json(load) : Json(kNotAvailable)},
          {"started", utc_text(realtime_ns())}};
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return percentile(samples, 0.5);
}

Json spread(std::vector<double> samples, const std::string& unit) {
  std::sort(samples.begin(), samples.end());
  return {{"unit", unit},
          {"median", percentile(samples, 0.5)},
          {"min", samples.front()},
          {"max", samples.back()},
          {"p25", percentile(samples, 0.25)},
          {"p75", percentile(samples, 0.75)},
          {"repeats", samples.size()}};
}

int first_allowed_core() {
  const cpu_set_t allowed = allowed_cores();
  std::size_t core = 0;
  while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &allowed)) ++core;
  return static_cast<int>(core);
}

void pin_to_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
    throw system_error("cannot run on core {} ({}); the first core that this process may use is {}", core,
                       errno_text(errno), first_allowed_core());
  }
}

void pin_threads(int threads) {
  const std::vector<int> cores = cores_for(threads);
  omp_set_num_threads(threads);
#pragma omp parallel num_threads(threads)
  pin_to_core(cores[static_cast<std::size_t>(omp_get_thread_num())]);
}

void pin_process(int process, int processes) {
  const std::vector<int> cores = cores_for(processes);
  omp_set_num_threads(1);
  pin_to_core(cores[static_cast<std::size_t>(process)]);
}

void write_json(const Json& document, const std::string& path) {
  const std::string text = document.dump_sorted(2) + "\n";
  if (path.empty() || path == "-") {
    std::cout << text;
    return;
  }
  OutputFile file(path, "--output");
  file.write(text);
  file.finish();
}

}  // namespace ringside::bench
