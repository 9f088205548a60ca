// SPDX-License-Identifier: BSD-3-Clause
// Kernels without a measurement in a tier, derived from STREAM. A copy costs as much as STREAM's copy. Each access to
// an element in the tier costs more than an access in DRAM; STREAM's copy gives the difference. Therefore the published
// tables of a node are sufficient (docs/inside/model.md, "Derived kernels").
#pragma once

#include <optional>
#include <span>
#include <string>

#include "node/model/channels.hpp"
#include "node/model/node.hpp"

namespace ringside {

/// The part of `seconds` spent in the cores, without the memory's part: (t^q - (bytes / C)^q)^(1/q).
double core_seconds(double seconds, double bytes, double capacity_bytes_s, double q) noexcept;

// channels: the channels of the node. The channels of the first tier limit accesses to DRAM; those of `tier` limit
// accesses to `tier`. Both may be the same channels.

/// Core seconds that one thread takes for an element of STREAM's copy within DRAM, from the first point of the copy's
/// series. Empty without this series.
std::optional<double> dram_copy_seconds(const Node& node, const Channels& channels, double q);

/// The additional seconds of one thread for one access to an element in `tier`, compared with an access in DRAM, for
/// each thread count of STREAM's copy in `tier`. Of the copy in DRAM, only the first point is used. Smoothed by the
/// median of three neighbours. Empty if one of the series is missing.
std::optional<Series> access_seconds(const Node& node, const Channels& channels, const std::string& tier, double q);

/// The time of a copy of `elements` doubles from DRAM to `tier` with plain stores. bytes: the bytes moved through each
/// group of channels.
std::optional<Series> derived_transfer(const Node& node, const Channels& channels, const std::string& tier,
                                       std::uint64_t elements, std::span<const double> bytes, double q);

/// The time of a sweep over `rows` doubles in `tier`, from `in_dram`, the time of the same sweep in DRAM. bytes: as in
/// derived_transfer, but all of them are moved in the tier.
std::optional<Series> derived_sweep(const Node& node, const Channels& channels, const std::string& tier,
                                    const KernelFigures& in_dram, std::uint64_t rows, std::span<const double> bytes,
                                    double q);

}  // namespace ringside
