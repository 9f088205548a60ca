// What every benchmark's JSON says of the machine, the build and the moment: a figure without it cannot be compared.
#pragma once

#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

namespace ringside::bench {

inline std::string first_line_of(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  return line.empty() ? "n/a" : line;
}

inline std::string processor_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "n/a";
}

inline nlohmann::json machine_header() {
  utsname kernel{};
  uname(&kernel);
  double load[3] = {};
  const bool has_load = getloadavg(load, 3) == 3;
  nlohmann::json header;
  header["processor"] = processor_model();
  header["cores"] = std::thread::hardware_concurrency();
  header["governor"] = first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  header["kernel"] = std::string(kernel.sysname) + ' ' + kernel.release;
  header["compiler"] = RINGSIDE_BENCH_COMPILER;
  header["flags"] = RINGSIDE_BENCH_FLAGS;
  header["commit"] = RINGSIDE_BENCH_COMMIT;
  if (has_load) header["load_average_1min"] = load[0];
  return header;
}

}  // namespace ringside::bench
