// SPDX-License-Identifier: BSD-3-Clause
// Probe of software Memory Mode (docs/inside/memory_mode.md): whether a matrix larger than DRAM can lie in a folder.
#pragma once

#include <string>

#include "cli/doctor/finding.hpp"

namespace ringside {

/// What starting an arena has shown.
struct MemoryModeFacts {
  std::string folder{};
  std::string refusal{};  // the library's line; empty: it started
  bool moves = false;   // pages are moved, not copied
  bool mapped = false;  // far memory is mapped: tmpfs or DAX
  bool tmpfs = false;
  std::string release{};  // of the kernel, as /proc/sys/kernel/osrelease has it
};

Finding memory_mode_finding(const MemoryModeFacts& facts);

/// Starts an arena in the folder of `place` (a pool or a folder) and ends it. It leaves nothing there.
Finding probe_memory_mode(const std::string& place);

}  // namespace ringside
