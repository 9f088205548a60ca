// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/fingerprint.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "common/kernels/isa.hpp"
#include "common/platform/version.hpp"

namespace ringside {
namespace {

// The version of the measurements of kernels, pairs and loops. It increases with each change that alters the figures
// although the machine code of the kernels is the same: a change of what is timed, of what runs at the same time, of
// the order, or of how a figure is computed.
constexpr int kMeasuringVersion = 2;  // 2: pairs of an iteration and whole steps

/// Rounds to 256 MiB: the memory that the kernel reserves differs a little from boot to boot.
std::uint64_t rounded_memory(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kUnit = std::uint64_t{256} << 20;
  return (bytes + kUnit / 2) / kUnit * kUnit;
}

}  // namespace

std::vector<int> usable_cores(const Machine& machine) {
  const CorePlan plan = plan_cores(machine, std::nullopt, std::nullopt);
  std::vector<int> cores = plan.producer;
  for (const int cpu : plan.analyzer) {
    if (std::find(cores.begin(), cores.end(), cpu) == cores.end()) cores.push_back(cpu);
  }
  return cores;
}

Fingerprint fingerprint(const Machine& machine) {
  CoreList cores{usable_cores(machine)};
  std::sort(cores.cpus.begin(), cores.cpus.end());
  utsname names{};
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return {.cpu = machine.model.empty() ? "unknown" : machine.model,
          .cores = static_cast<int>(cores.cpus.size()),
          .cpus = to_string(cores),
          .memory_bytes = rounded_memory(static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes)),
          .kernel = uname(&names) == 0 ? names.release : "unknown",
          .build = fmt::format("{} {} {} measuring-{}", version(), to_string(selected_isa()), kernels_hash(),
                               kMeasuringVersion)};
}

}  // namespace ringside
