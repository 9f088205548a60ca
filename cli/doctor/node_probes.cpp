// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "analyzer/journal/journal_storage.hpp"
#include "cli/doctor/probes.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/system_files.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kUnlimited = -1;
// A process opens its inputs and a few sockets, memfds and pools: 256 descriptors are more than enough.
constexpr std::int64_t kFewestFiles = 256;

std::optional<std::int64_t> meminfo_bytes(const std::string& root, const std::string& key) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = words(line);
    if (parts.size() >= 2 && parts[0] == key + ":") {
      if (const auto kibibytes = number_of(parts[1])) return *kibibytes * 1024;
    }
  }
  return std::nullopt;
}

// Reads the soft limit from a line like "Max open files  1024  4096  files"; empty if there is no such line.
std::optional<std::int64_t> soft_limit(const std::string& root, const std::string& name) {
  std::ifstream file(root + "/proc/self/limits");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const std::vector<std::string> parts = words(line.substr(name.size()));
    if (parts.empty()) return std::nullopt;
    return parts[0] == "unlimited" ? kUnlimited : number_of(parts[0]);
  }
  return std::nullopt;
}

std::string limit_text(std::int64_t limit, double unit, const std::string& name) {
  return limit == kUnlimited ? "unlimited" : fmt::format("{:.0f}{}", static_cast<double>(limit) / unit, name);
}

}  // namespace

Finding probe_caches(const Machine& machine) {
  if (machine.l3_bytes == 0) return {"caches", Verdict::kNote, "n/a: no last-level cache is reported", "", {}};
  return {"caches",
          Verdict::kOk,
          fmt::format("last-level cache {} x {:.0f} MiB", machine.l3_caches,
                      static_cast<double>(machine.l3_bytes) / (1 << 20)),
          "",
          {{"l3_bytes", static_cast<std::int64_t>(machine.l3_bytes)}, {"l3_caches", std::int64_t{machine.l3_caches}}}};
}

Finding probe_instructions() {
  const std::string isa(to_string(selected_isa()));
  Finding finding{"instructions", Verdict::kOk, fmt::format("kernels use {}", isa), "", {{"isa", isa}}};
  if (selected_isa() == Isa::kPlain) {
    finding.verdict = Verdict::kNote;
    finding.advice = "kernels are slower without AVX2 (does the hypervisor mask it, or is RINGSIDE_ISA=plain set?)";
  }
  return finding;
}

Finding probe_memory(const std::string& root) {
  const auto total = meminfo_bytes(root, "MemTotal");
  const auto available = meminfo_bytes(root, "MemAvailable");
  if (!total || !available) return unknown("memory", "/proc/meminfo");
  Finding finding{"memory",
                  Verdict::kOk,
                  fmt::format("{:.1f} GB, {:.1f} GB available", static_cast<double>(*total) / kGigabyte,
                              static_cast<double>(*available) / kGigabyte),
                  "",
                  {{"total_bytes", *total}, {"available_bytes", *available}}};
  // /proc/meminfo does not contain a container's limit; "max" means no limit.
  const auto limit = number_of(first_line(root + "/sys/fs/cgroup/memory.max").value_or(""));
  if (limit && *limit < *total) {
    finding.verdict = Verdict::kNote;
    finding.found += fmt::format(", but the control group allows {:.1f} GB", static_cast<double>(*limit) / kGigabyte);
    finding.advice = "the matrix, four vectors and the buffers must fit; raise the limit if they do not";
    finding.facts.emplace_back("control_group_limit_bytes", *limit);
  }
  return finding;
}

Finding probe_limits(const std::string& root) {
  const auto files = soft_limit(root, "Max open files");
  const auto locked = soft_limit(root, "Max locked memory");
  const auto file_bytes = soft_limit(root, "Max file size");
  if (!files || !locked || !file_bytes) return unknown("limits", "/proc/self/limits");
  Finding finding{"limits",
                  Verdict::kOk,
                  fmt::format("open files {}, locked memory {}, file size {}", limit_text(*files, 1, ""),
                              limit_text(*locked, 1 << 20, " MiB"), limit_text(*file_bytes, kGigabyte, " GB")),
                  "",
                  {{"open_files", *files}, {"locked_memory_bytes", *locked}, {"file_size_bytes", *file_bytes}}};
  if (*files != kUnlimited && *files < kFewestFiles) {
    finding.verdict = Verdict::kProblem;
    finding.advice = fmt::format("the limit of open files is too low: `ulimit -n {}`", kFewestFiles * 4);
  } else if (*file_bytes != kUnlimited) {
    finding.verdict = Verdict::kNote;
    finding.advice = "pools larger than this limit cannot be made; to remove it: `ulimit -f unlimited`";
  }
  return finding;
}

Finding probe_clock(const std::string& root) {
  const std::string folder = "/sys/devices/system/clocksource/clocksource0";
  const auto current = first_line(root + folder + "/current_clocksource");
  if (!current) return unknown("clock", folder);
  const std::vector<std::string> available = words(first_line(root + folder + "/available_clocksource").value_or(""));
  Finding finding{
      "clock", Verdict::kOk, fmt::format("{}", *current), "", {{"source", *current}, {"available", available}}};
  // These clocks are read without entering the kernel; with other clocks, a time stamp costs a system call or an access
  // to a slow device.
  const std::vector<std::string> fast = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"};
  const auto contains = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  if (contains(fast, *current)) return finding;
  finding.verdict = Verdict::kNote;
  const auto better =
      std::find_if(fast.begin(), fast.end(), [&](const auto& name) { return contains(available, name); });
  finding.advice =
      better != fast.end()
          ? fmt::format("time stamps are slow; for a faster clock, as root: `echo {} > {}/current_clocksource`",
                        *better, folder)
          : "time stamps are slow, and this machine offers no faster clock: read short times with care";
  return finding;
}

Finding probe_frequency(const std::string& root) {
  const auto governor = first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor)
    return {"frequency",
            Verdict::kOk,
            "n/a: the kernel does not control the frequency here (virtual machine or firmware)",
            "",
            {}};
  Finding finding{"frequency", Verdict::kOk, fmt::format("governor {}", *governor), "", {{"governor", *governor}}};
  if (*governor != "performance") {
    finding.verdict = Verdict::kNote;
    finding.advice = "for steadier measurements, as root: `cpupower frequency-set --governor performance`";
  }
  return finding;
}

Finding probe_kernel(const std::string& root) {
  const auto release = first_line(root + "/proc/sys/kernel/osrelease");
  if (!release) return unknown("kernel", "/proc/sys/kernel/osrelease");
  Finding finding{"kernel", Verdict::kOk, fmt::format("Linux {}", *release), "", {{"release", *release}}};
  if (kernel_before(*release, 5, 3)) {
    finding.verdict = Verdict::kProblem;
    finding.advice = "Linux 5.3 or newer is needed, because Ringside uses pidfds to notice the death of processes";
  }
  return finding;
}

Finding probe_pmdk() {
  // Reports the versions found at build time, because only the source files for the storage of ring and journal may
  // call these libraries.
  Finding finding{"pmdk",
                  Verdict::kOk,
                  "libpmemobj " RINGSIDE_PMDK_VERSION ", libpmemlog " RINGSIDE_PMEMLOG_VERSION,
                  "",
                  {{"libpmemobj", RINGSIDE_PMDK_VERSION}, {"libpmemlog", has_pmemlog()}}};
  if (has_pmemlog()) return finding;
  finding.verdict = Verdict::kNote;
  finding.found = "libpmemobj " RINGSIDE_PMDK_VERSION "; built without libpmemlog";
  finding.advice = "nothing to do: the journal is kept in plain files (`--journal pmemlog` is not available)";
  return finding;
}

}  // namespace ringside
