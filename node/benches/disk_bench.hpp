// SPDX-License-Identifier: BSD-3-Clause
// Costs of a disk below a page cache: fdatasync(2) of one changed page, and the rate at which the disk writes a step's
// changes. The measured file has no name. As in a pool, its blocks are allocated beforehand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

struct DiskSamples {
  std::vector<double> sync_s;
  std::vector<double> sync_gb_s;
};

/// Adds samples of syncing `bytes` bytes (at least a page) in `folder`. Throws Error (exit code 3) if the disk has no
/// room or fails.
void measure_disk(const std::string& folder, std::uint64_t bytes, DiskSamples& samples);

}  // namespace ringside
