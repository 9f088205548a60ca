// What a figure is worth nothing without: the machine, the build and the load it was measured under. What the system
// does not tell is "n/a".
#pragma once

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "common/isa.hpp"

namespace ringside::bench {

inline std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? line : "n/a";
}

inline std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "n/a";
}

/// To be called before anything is measured: it holds the load average at start.
inline nlohmann::ordered_json machine_header() {
  utsname system{};
  uname(&system);
  double load = 0;
  const bool has_load = getloadavg(&load, 1) == 1;
  nlohmann::ordered_json header;
  header["version"] = RINGSIDE_VERSION;
  header["cpu"] = cpu_model();
  header["cores"] = sysconf(_SC_NPROCESSORS_ONLN);
  header["governor"] = first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  header["kernel"] = std::string(system.sysname) + " " + system.release;
  header["compiler"] = __VERSION__;
  header["isa"] = std::string(to_string(selected_isa()));
  if (has_load) {
    header["load_average_at_start"] = load;
  } else {
    header["load_average_at_start"] = "n/a";
  }
  return header;
}

}  // namespace ringside::bench
