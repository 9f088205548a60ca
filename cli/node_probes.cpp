#include "cli/node_probes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "analyzer/journal_storage.hpp"
#include "common/isa.hpp"

namespace ringside {
namespace {

constexpr double kGigabyte = 1e9;
constexpr std::int64_t kUnlimited = -1;
// Sockets, memfds and pools: a handful, and the inputs. 256 leaves room.
constexpr std::int64_t kFewestFiles = 256;

// The first line of a file, without its newline; nothing where it cannot be read.
std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

// Of "always [madvise] never" the one in brackets.
std::string chosen_word(const std::string& line) {
  const std::size_t begin = line.find('[');
  const std::size_t end = line.find(']', begin);
  return end == std::string::npos ? line : line.substr(begin + 1, end - begin - 1);
}

Finding unknown(const std::string& topic, const std::string& where) {
  return {topic, Verdict::kNote, fmt::format("n/a: {} cannot be read", where), "", {}};
}

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

// "Max open files  1024  4096  files": the soft limit; nothing where there is no such line.
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

struct Namespace {
  std::string name;
  std::string mode;  // as ndctl calls it
  std::int64_t bytes = 0;
  std::string numa_node;
};

std::string ndctl_mode(const std::string& kernel_mode) {
  if (kernel_mode == "memory") return "fsdax";
  if (kernel_mode == "dax") return "devdax";
  if (kernel_mode == "safe") return "sector";
  return kernel_mode;
}

std::vector<std::string> entries_of(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) == 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Namespace> pmem_namespaces(const std::string& devices) {
  std::vector<Namespace> found;
  for (const std::string& name : entries_of(devices, "namespace")) {
    const std::string folder = devices + "/" + name;
    const std::int64_t bytes = number_of(first_line(folder + "/size").value_or("0")).value_or(0);
    if (bytes == 0) continue;  // the seed of a namespace that was not made yet
    found.push_back({name, ndctl_mode(first_line(folder + "/mode").value_or("unknown")), bytes,
                     first_line(folder + "/numa_node").value_or("?")});
  }
  return found;
}

}  // namespace

Finding probe_cores(const Machine& machine) {
  const MachineCounts counts = count(machine);
  Finding finding{"cores",
                  Verdict::kOk,
                  fmt::format("{}sockets {}, NUMA nodes {}, cores {}, hardware threads {} ({} may be used here)",
                              machine.model.empty() ? "" : machine.model + ": ", counts.packages, counts.numa_nodes,
                              counts.cores, counts.threads, counts.allowed_threads),
                  "",
                  {{"model", machine.model},
                   {"packages", std::int64_t{counts.packages}},
                   {"numa_nodes", std::int64_t{counts.numa_nodes}},
                   {"cores", std::int64_t{counts.cores}},
                   {"threads", std::int64_t{counts.threads}},
                   {"allowed_threads", std::int64_t{counts.allowed_threads}},
                   {"smt", counts.smt}}};
  if (counts.allowed_threads < 2) {
    finding.verdict = Verdict::kNote;
    finding.advice =
        "producer and analyzer will take turns on one core; allow a second (taskset, cgroup, machine size)";
    return finding;
  }
  const CorePlan plan = plan_cores(machine, {}, {});
  finding.found += fmt::format("; a run would use {} for the producer and {} for the analyzer",
                               to_string(CoreList{plan.producer}), to_string(CoreList{plan.analyzer}));
  finding.facts.emplace_back("producer_cores", to_string(CoreList{plan.producer}));
  finding.facts.emplace_back("analyzer_cores", to_string(CoreList{plan.analyzer}));
  return finding;
}

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
    finding.advice = "no AVX2: kernels are slower (is it masked by the hypervisor, or RINGSIDE_ISA=plain set?)";
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
  // A container's limit is not in /proc/meminfo; "max" means none.
  const auto limit = number_of(first_line(root + "/sys/fs/cgroup/memory.max").value_or(""));
  if (limit && *limit < *total) {
    finding.verdict = Verdict::kNote;
    finding.found += fmt::format(", but the control group allows {:.1f} GB", static_cast<double>(*limit) / kGigabyte);
    finding.advice = "the matrix, four vectors and the buffers must fit; raise the limit where they do not";
    finding.facts.emplace_back("control_group_limit_bytes", *limit);
  }
  return finding;
}

Finding probe_huge_pages(const std::string& root) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  const auto enabled_line = first_line(root + folder + "/enabled");
  if (!enabled_line) return unknown("huge_pages", folder);
  const std::string enabled = chosen_word(*enabled_line);
  const std::string shared = chosen_word(first_line(root + folder + "/shmem_enabled").value_or("n/a"));
  Finding finding{"huge_pages",
                  Verdict::kOk,
                  fmt::format("{} for private memory, {} for shared memory", enabled, shared),
                  "",
                  {{"enabled", enabled}, {"shmem_enabled", shared}}};
  std::vector<std::string> commands;
  if (enabled == "never") commands.push_back(fmt::format("echo madvise > {}/enabled", folder));
  if (shared == "never" || shared == "deny") commands.push_back(fmt::format("echo advise > {}/shmem_enabled", folder));
  if (!commands.empty()) {
    finding.verdict = Verdict::kNote;
    finding.advice = fmt::format("fewer TLB misses with, as root: {}", fmt::join(commands, "; "));
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
    finding.advice = fmt::format("too few open files: ulimit -n {}", kFewestFiles * 4);
  } else if (*file_bytes != kUnlimited) {
    finding.verdict = Verdict::kNote;
    finding.advice = "a larger pool cannot be made: ulimit -f unlimited";
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
  // These are read without entering the kernel; the others cost a system call or a slow device at every time stamp.
  const std::vector<std::string> fast = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"};
  const auto contains = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  if (contains(fast, *current)) return finding;
  finding.verdict = Verdict::kNote;
  const auto better =
      std::find_if(fast.begin(), fast.end(), [&](const auto& name) { return contains(available, name); });
  finding.advice = better != fast.end()
                       ? fmt::format("time stamps are slow; as root: echo {} > {}/current_clocksource", *better, folder)
                       : "time stamps are slow, and this machine offers no faster clock: read short times with care";
  return finding;
}

Finding probe_frequency(const std::string& root) {
  const auto governor = first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor) return {"frequency", Verdict::kOk, "n/a: not governed here (virtual machine or firmware)", "", {}};
  Finding finding{"frequency", Verdict::kOk, fmt::format("governor {}", *governor), "", {{"governor", *governor}}};
  if (*governor != "performance") {
    finding.verdict = Verdict::kNote;
    finding.advice = "steadier measurements with, as root: cpupower frequency-set --governor performance";
  }
  return finding;
}

Finding probe_kernel(const std::string& root) {
  const auto release = first_line(root + "/proc/sys/kernel/osrelease");
  if (!release) return unknown("kernel", "/proc/sys/kernel/osrelease");
  Finding finding{"kernel", Verdict::kOk, fmt::format("Linux {}", *release), "", {{"release", *release}}};
  const std::int64_t major = number_of(*release).value_or(0);
  const std::size_t dot = release->find('.');
  const std::int64_t minor = dot == std::string::npos ? 0 : number_of(release->substr(dot + 1)).value_or(0);
  if (major < 5 || (major == 5 && minor < 3)) {
    finding.verdict = Verdict::kProblem;
    finding.advice = "Linux 5.3 or newer is needed: the death of a process is learned from its pidfd";
  }
  return finding;
}

Finding probe_pmdk() {
  // As found at build time: only the ring's and the journal's storage files may call the library.
  Finding finding{"pmdk",
                  Verdict::kOk,
                  "libpmemobj " RINGSIDE_PMDK_VERSION ", libpmemlog " RINGSIDE_PMEMLOG_VERSION,
                  "",
                  {{"libpmemobj", RINGSIDE_PMDK_VERSION}, {"libpmemlog", has_pmemlog()}}};
  if (has_pmemlog()) return finding;
  finding.verdict = Verdict::kNote;
  finding.found = "libpmemobj " RINGSIDE_PMDK_VERSION "; built without libpmemlog";
  finding.advice = "nothing to do: the journal is kept in plain files (`--journal pmemlog` is not there)";
  return finding;
}

Finding probe_pmem(const std::string& root) {
  const std::string devices = root + "/sys/bus/nd/devices";
  const std::vector<std::string> regions = entries_of(devices, "region");
  const std::vector<Namespace> namespaces = pmem_namespaces(devices);
  std::vector<std::string> described;
  bool file_systems_possible = false;
  for (const Namespace& one : namespaces) {
    described.push_back(fmt::format("{} ({}, {:.1f} GB, NUMA node {})", one.name, one.mode,
                                    static_cast<double>(one.bytes) / kGigabyte, one.numa_node));
    file_systems_possible = file_systems_possible || one.mode == "fsdax";
  }
  Finding finding{"pmem", Verdict::kOk, "", "", {{"regions", regions}, {"namespaces", described}}};
  if (regions.empty() && namespaces.empty()) {
    finding.verdict = Verdict::kNote;
    finding.found = "no persistent memory: the ring lives in files";
    finding.advice = "nothing to do: files work, `--durability power` then waits for the disk (in the background)";
    return finding;
  }
  finding.found = namespaces.empty() ? fmt::format("{} without a namespace", fmt::join(regions, ", "))
                                     : fmt::format("{}", fmt::join(described, ", "));
  for (const std::string& region : regions) {
    if (const auto domain = first_line(devices + "/" + region + "/persistence_domain"); domain && !domain->empty()) {
      finding.found += fmt::format("; {} persists from {}", region, *domain);
      finding.facts.emplace_back(region + "_persistence_domain", *domain);
    }
  }
  if (!file_systems_possible) {
    finding.verdict = Verdict::kNote;
    finding.advice = fmt::format(
        "none can hold a DAX file system; on an empty one, as root: ndctl create-namespace "
        "--mode=fsdax{}",
        regions.empty() ? "" : " --region=" + regions.front());
  }
  return finding;
}

}  // namespace ringside
