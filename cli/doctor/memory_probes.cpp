// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/probes.hpp"
#include "common/platform/system_files.hpp"
#include "memory/ringside_memory.h"

namespace ringside {

Finding memory_mode_finding(const MemoryModeFacts& facts) {
  Finding finding{"memory_mode", Verdict::kOk, "", "", {{"far_folder", facts.folder}}};
  finding.facts.emplace_back("works", facts.refusal.empty());
  if (!facts.refusal.empty()) {
    finding.verdict = Verdict::kNote;  // a matrix in DRAM does not need Memory Mode
    finding.found = fmt::format("--matrix-memory far:{} cannot be used: {}", facts.folder, facts.refusal);
    return finding;
  }
  const std::string far = facts.tmpfs ? "tmpfs" : facts.mapped ? "DAX" : "disk";
  finding.facts.emplace_back("moves", facts.moves);
  finding.facts.emplace_back("far_memory", far);
  finding.found = fmt::format("--matrix-memory far:{} works: userfaultfd is permitted, pages are {}, far memory is {}",
                              facts.folder, facts.moves ? "moved" : "copied",
                              facts.tmpfs    ? "tmpfs"
                              : facts.mapped ? "mapped persistent memory (DAX)"
                                             : "on a disk");
  // memory/arena/userfault.cpp describes the defect that move_pages() has in kernels before 6.18.
  const bool miscounts = facts.moves && !facts.release.empty() && !kernel_before(facts.release, 6, 18);
  finding.facts.emplace_back("moves_may_be_uncounted", miscounts);
  if (miscounts) {
    finding.found += fmt::format(
        "; while pages migrate, Linux {} may fail to move them (error 'File exists') and may not report how many it "
        "moved (seen with 6.18). Ringside then checks where the pages are, and continues",
        facts.release);
  }
  if (facts.tmpfs) {
    finding.advice = "a tmpfs itself uses DRAM or swap; to save DRAM, name a folder on an NVDIMM or on a disk";
  } else if (!facts.moves) {
    finding.advice = "Linux 6.8 or later moves pages (UFFDIO_MOVE), which costs less than copying them";
  } else if (facts.mapped) {
    finding.advice =
        "a matrix larger than --dram-limit is used in place, and its often-used parts are moved to DRAM; a mapped "
        "--cache is also read in place, but needs no limit";
  } else {
    finding.advice =
        "far memory is worthwhile if a matrix does not fit into DRAM (swap was slower for streams and random updates); "
        "but if the kernel has enough DRAM for a whole mapped --cache, this cache is as fast as DRAM "
        "(docs/inside/memory_mode.md, When far memory pays)";
  }
  return finding;
}

Finding probe_memory_mode(const std::string& place) {
  MemoryModeFacts facts;
  facts.folder = pool_folder(place);
  facts.release = first_line("/proc/sys/kernel/osrelease").value_or("");
  ringside_memory_options arena{};
  arena.struct_bytes = sizeof arena;
  arena.far_folder = facts.folder.c_str();
  arena.dram_bytes = std::uint64_t{1} << 20;
  arena.far_bytes = std::uint64_t{1} << 20;
  if (ringside_memory_start(&arena) != 0) {
    facts.refusal = ringside_memory_error();
    const std::string function = "ringside_memory_start: ";
    if (facts.refusal.starts_with(function)) facts.refusal.erase(0, function.size());
    return memory_mode_finding(facts);
  }
  struct ringside_memory_stats stats {};
  stats.struct_bytes = sizeof stats;
  ringside_memory_stats(&stats);
  facts.moves = stats.moves == 1;
  facts.mapped = stats.mapped == 1;
  ringside_memory_stop();
  struct statfs status {};
  facts.tmpfs = statfs(facts.folder.c_str(), &status) == 0 && status.f_type == TMPFS_MAGIC;
  return memory_mode_finding(facts);
}

}  // namespace ringside
