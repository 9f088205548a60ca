// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/pool/dax.hpp"
#include "cli/doctor/probes.hpp"
#include "common/platform/system_files.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kHugePageBytes = 2 << 20;

// Returns the word in brackets, "madvise" for "always [madvise] never"; the whole line if there is none.
std::string chosen_word(const std::string& line) {
  const std::size_t begin = line.find('[');
  const std::size_t end = line.find(']', begin);
  return end == std::string::npos ? line : line.substr(begin + 1, end - begin - 1);
}

}  // namespace

// Private memory: the matrix and vectors of a built-in solver, and the arrays that `calibrate` measures with. Shared
// memory: the buffers of the hand-off (common/platform/huge_pages.hpp). A pool on tmpfs is prefaulted like the buffers.
Finding probe_huge_pages(const std::string& root) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  const auto enabled_line = first_line(root + folder + "/enabled");
  if (!enabled_line) return unknown("huge_pages", folder);
  const std::string enabled = chosen_word(*enabled_line);
  const std::string shared = chosen_word(first_line(root + folder + "/shmem_enabled").value_or("n/a"));
  Finding finding{
      "huge_pages",
      Verdict::kOk,
      fmt::format("{} for private memory (matrix, vectors), {} for shared memory (buffers)", enabled, shared),
      "",
      {{"enabled", enabled}, {"shmem_enabled", shared}}};
  std::vector<std::string> commands;
  if (enabled == "never") commands.push_back(fmt::format("`echo madvise > {}/enabled`", folder));
  // From Linux 6.1 on, Ringside asks for the huge pages of its buffers itself, which only `deny` prevents.
  const std::string release = first_line(root + "/proc/sys/kernel/osrelease").value_or("");
  const bool must_be_advised = release.empty() || kernel_before(release, 6, 1);
  if (shared == "deny" || (shared == "never" && must_be_advised))
    commands.push_back(fmt::format("`echo advise > {}/shmem_enabled`", folder));
  if (!commands.empty()) {
    finding.verdict = Verdict::kNote;
    finding.advice = fmt::format("for fewer TLB misses, as root: {}", fmt::join(commands, "; "));
  }
  return finding;
}

Finding probe_dax_pages(const PoolDevice& device) {
  const PmemNamespace& pmem = *device.pmem;
  Finding finding{"dax_pages",
                  Verdict::kOk,
                  "",
                  "",
                  {{"namespace_align_bytes", pmem.align_bytes},
                   {"partition_start_bytes", device.start_bytes},
                   {"file_system_stripe_bytes", device.mount->stripe_bytes}}};
  std::vector<std::string> wrong;
  std::vector<std::string> advice;
  if (pmem.align_bytes == 0 || pmem.align_bytes % kHugePageBytes != 0) {
    wrong.push_back(pmem.align_bytes == 0 ? fmt::format("{} reports no alignment", pmem.name)
                                          : fmt::format("{} is aligned to {} bytes", pmem.name, pmem.align_bytes));
    advice.push_back(fmt::format("`ndctl create-namespace --force --reconfig={} --mode=fsdax --align=2M`", pmem.name));
  }
  if (device.start_bytes % kHugePageBytes != 0) {
    wrong.push_back(fmt::format("/dev/{} begins at byte {}", device.name, device.start_bytes));
    advice.push_back("use a partition that begins at a multiple of 2 MiB, or no partition");
  }
  if (device.mount->stripe_bytes == 0 || device.mount->stripe_bytes % kHugePageBytes != 0) {
    wrong.push_back(
        fmt::format("the {} at {} does not place files in units of 2 MiB", device.mount->type, device.mount->point));
    const std::string make =
        device.mount->type == "xfs" ? "mkfs.xfs -b size=4096 -m reflink=0 -d su=2m,sw=1,extszinherit=512" : kMakeExt4;
    advice.push_back(fmt::format("`{} /dev/{}`", make, device.name));
  }
  if (wrong.empty()) {
    finding.found =
        fmt::format("pages of 2 MiB: {}, /dev/{} and its {} are aligned", pmem.name, device.name, device.mount->type);
    return finding;
  }
  finding.verdict = Verdict::kNote;
  finding.found = fmt::format("partly pages of 4 KiB: {}", fmt::join(wrong, "; "));
  finding.advice =
      fmt::format("for fewer page faults and TLB misses, as root (this erases all data): {}", fmt::join(advice, "; "));
  return finding;
}

}  // namespace ringside
