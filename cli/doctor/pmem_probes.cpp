// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "cli/doctor/probes.hpp"
#include "common/platform/system_files.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kSectorBytes = 512;  // the unit of sysfs

std::string devices_of(const std::string& root) {
  return root + "/sys/bus/nd/devices";
}

struct Namespace {
  std::string name;
  std::string mode;  // the mode in ndctl's words
  std::int64_t bytes = 0;
  std::string numa_node;
};

std::vector<Namespace> pmem_namespaces(const std::string& devices) {
  std::vector<Namespace> found;
  for (const std::string& name : entries_of(devices, "namespace")) {
    const std::string folder = devices + "/" + name;
    const std::int64_t bytes = number_of(first_line(folder + "/size").value_or("0")).value_or(0);
    if (bytes == 0) continue;  // a "seed": the device of a namespace that does not exist yet
    found.push_back({name, ndctl_mode(first_line(folder + "/mode").value_or("unknown")), bytes,
                     first_line(folder + "/numa_node").value_or("?")});
  }
  return found;
}

/// Counts the sectors in `list`, a file of "SECTOR COUNT" lines, that are within [first, first + length).
std::int64_t bad_sectors(const std::string& list, std::int64_t first, std::int64_t length) {
  std::int64_t bad = 0;
  std::ifstream file(list);
  for (std::int64_t sector = 0, sectors = 0; file >> sector >> sectors;) {
    bad += std::max<std::int64_t>(0, std::min(sector + sectors, first + length) - std::max(sector, first));
  }
  return bad;
}

constexpr std::int64_t kWhole = std::int64_t{1} << 60;

/// The number of unsafe shutdowns of the DIMM `nmem`, for any kind of device; empty if the device does not count them.
std::optional<std::int64_t> unsafe_shutdowns(const std::string& nmem) {
  for (const char* kind : {"/nfit", "/cxl", "/papr", ""}) {
    if (const auto counted = number_in(nmem + kind + "/dirty_shutdown")) return counted;
  }
  return std::nullopt;
}

/// Those flags of the DIMM `nmem` that report a loss of data or a risk of such a loss.
std::vector<std::string> failures(const std::string& nmem) {
  std::vector<std::string> found;
  for (const std::string& flag : words(first_line(nmem + "/nfit/flags").value_or(""))) {
    for (const char* bad : {"not_armed", "save_fail", "restore_fail", "flush_fail"}) {
      if (flag == bad) found.push_back(flag);
    }
  }
  return found;
}

}  // namespace

bool has_pmem(const std::string& root) {
  return !entries_of(devices_of(root), "region").empty();
}

Finding probe_pmem(const std::string& root) {
  const std::string devices = devices_of(root);
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
    finding.found = "no persistent memory: the ring is kept in files";
    finding.advice =
        "nothing to do: files work; with them, `--durability power` waits for the disk (in the background)";
    return finding;
  }
  finding.found = namespaces.empty() ? fmt::format("{} without a namespace", fmt::join(regions, ", "))
                                     : fmt::format("{}", fmt::join(described, ", "));
  for (const std::string& region : regions) {
    if (const auto domain = first_line(devices + "/" + region + "/persistence_domain"); domain && !domain->empty()) {
      finding.found += fmt::format("; persistence domain of {}: {}", region, *domain);
      finding.facts.emplace_back(region + "_persistence_domain", *domain);
    }
  }
  if (file_systems_possible) return finding;
  finding.verdict = Verdict::kNote;
  // Without labels, the kernel makes one namespace of the whole region, so that there is no room for another namespace.
  const std::string command =
      namespaces.empty()
          ? "ndctl create-namespace --mode=fsdax" + (regions.empty() ? std::string() : " --region=" + regions.front())
          : "ndctl create-namespace --force --reconfig=" + namespaces.front().name + " --mode=fsdax";
  finding.advice =
      fmt::format("no namespace can hold a DAX file system; make one {}, as root: `{}`",
                  namespaces.empty() ? "in an empty region" : "from an existing one, which erases its data", command);
  return finding;
}

Finding probe_persistence(const PoolDevice& device, const std::string& root) {
  const std::string region = device.pmem->region;
  const std::string domain = first_line(devices_of(root) + "/" + region + "/persistence_domain").value_or("");
  Finding finding{"persistence",
                  Verdict::kOk,
                  "",
                  "",
                  {{"namespace", device.pmem->name}, {"region", region}, {"persistence_domain", domain}}};
  if (domain == "memory_controller") {
    finding.found = fmt::format(
        "{}: ADR ({}): data that was flushed from the caches survives power loss, so commits flush the caches", region,
        domain);
    return finding;
  }
  if (domain == "cpu_cache") {
    finding.found = fmt::format(
        "{}: eADR ({}): the content of the caches also survives power loss, so commits need no flush", region, domain);
    return finding;
  }
  finding.verdict = Verdict::kNote;
  finding.found = fmt::format("{}: unknown{}: the firmware does not report what survives power loss", region,
                              domain.empty() ? "" : " (" + domain + ")");
  finding.advice =
      device.pmem->flushes_by_host
          ? "virtio-pmem persists by requests to the host; give the guest an NVDIMM instead"
          : "look in the firmware's set-up for ADR; a virtual machine needs `-machine nvdimm-persistence=mem-ctrl`";
  return finding;
}

Finding probe_bad_blocks(const PoolDevice& device, const std::string& root) {
  std::int64_t of_regions = 0;
  std::vector<std::string> affected;
  for (const std::string& region : entries_of(devices_of(root), "region")) {
    const std::int64_t bad = bad_sectors(devices_of(root) + "/" + region + "/badblocks", 0, kWhole);
    of_regions += bad;
    if (bad > 0) affected.push_back(fmt::format("{} in {}", bad, region));
  }
  // For a plain partition, only the sectors of the partition count. For a device of the device mapper, all sectors of
  // the underlying disks count, because the mapping is not examined.
  const bool part = device.start_bytes > 0 && device.disks.size() == 1 && !device.mapped;
  std::int64_t of_pool = 0;
  for (const std::string& disk : device.disks) {
    of_pool += bad_sectors(root + "/sys/class/block/" + disk + "/badblocks",
                           part ? device.start_bytes / kSectorBytes : 0, part ? device.bytes / kSectorBytes : kWhole);
  }
  Finding finding{
      "bad_blocks",
      Verdict::kOk,
      "none",
      "",
      {{"pool_device_bad_bytes", of_pool * kSectorBytes}, {"regions_bad_bytes", of_regions * kSectorBytes}}};
  const std::string everywhere =
      affected.empty() ? "" : fmt::format("{} (sectors of {} bytes)", fmt::join(affected, ", "), kSectorBytes);
  if (of_pool > 0) {
    finding.verdict = Verdict::kProblem;
    finding.found = fmt::format("{} sectors of {} bytes in /dev/{}, on which the pool lies{}", of_pool, kSectorBytes,
                                device.name, everywhere.empty() ? "" : "; in all regions: " + everywhere);
    finding.advice = fmt::format(
        "`ringside verify POOL` reports damaged iterates; `ringside wipe POOL` and a new pool rewrite the sectors; as "
        "root, `ndctl list --media-errors --namespace={0}` lists the sectors, and `ndctl clear-errors {0}` discards "
        "their content",
        device.pmem ? device.pmem->name : "all");
  } else if (of_regions > 0) {
    finding.verdict = Verdict::kNote;
    finding.found = everywhere + ", none in the pool's device";
    finding.advice = "see `ndctl list --media-errors`; a region whose number of bad sectors grows is wearing out";
  }
  return finding;
}

Finding probe_dimms(const std::string& root) {
  Finding finding{"dimms", Verdict::kOk, "", "", {}};
  std::vector<std::string> described;
  std::vector<std::string> broken;
  std::int64_t unsafe = 0;
  for (const std::string& nmem : entries_of(devices_of(root), "nmem")) {
    const std::string folder = devices_of(root) + "/" + nmem;
    const auto counted = unsafe_shutdowns(folder);
    described.push_back(counted ? fmt::format("{}: {} unsafe shutdowns", nmem, *counted)
                                : fmt::format("{}: unsafe shutdowns are not counted", nmem));
    if (counted) finding.facts.emplace_back(nmem + "_unsafe_shutdowns", *counted);
    unsafe += counted.value_or(0);
    const std::vector<std::string> flags = failures(folder);
    if (!flags.empty()) broken.push_back(fmt::format("{}: {}", nmem, fmt::join(flags, ", ")));
    finding.facts.emplace_back(nmem + "_failures", flags);
  }
  finding.found = described.empty() ? "n/a: the kernel lists no DIMM of the regions"
                                    : fmt::format("{}", fmt::join(described, "; "));
  if (!broken.empty()) {
    finding.verdict = Verdict::kProblem;
    finding.found += fmt::format("; {}", fmt::join(broken, "; "));
    finding.advice = "such a DIMM may lose data and should be replaced: see `ndctl list --dimms --health`";
  } else if (unsafe > 0) {
    finding.verdict = Verdict::kNote;
    finding.advice =
        "power was lost before all data was saved: run `ringside verify POOL`; if the count also grows with orderly "
        "shutdowns, the platform is at fault (see `ndctl list --dimms --health`)";
  }
  return finding;
}

}  // namespace ringside
