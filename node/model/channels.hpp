// SPDX-License-Identifier: BSD-3-Clause
// The memory channels of a node: the tiers that share them, and the rate at which they move bytes when saturated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/model/node.hpp"

namespace ringside {

struct Channels {
  std::vector<std::size_t> group_of_tier;  // the group of each tier, by the tier's index
  std::vector<double> capacity_bytes_s;    // by group: the highest moved rate of STREAM kernels; 0: not known
  std::vector<double> spread;              // the relative spread of that rate

  std::size_t groups() const noexcept { return capacity_bytes_s.size(); }
};

/// A tier shares the channels of the tier that `shares_with` names. Page caches and tmpfs share those of DRAM.
Channels channels_of(const Node& node);

/// Throws Error (exit code 2) if the channels of `tier` have no rate. The node must have this tier.
void require_rate(const Channels& channels, const Node& node, const std::string& tier);

/// The group of the tier with that name; the node must have that tier.
std::size_t group_of(const Channels& channels, const Node& node, const std::string& tier);

/// The STREAM kernels whose rates a node can have; docs/formats/files.md lists them.
std::vector<std::string_view> modelled_streams();

/// Bytes that a STREAM kernel moves for each byte it counts: a plain store reads the line first. 0 for any other
/// name.
double moved_per_counted(const std::string& stream_kernel) noexcept;

}  // namespace ringside
