// SPDX-License-Identifier: BSD-3-Clause
// Kernels that were not measured in a tier, derived from STREAM: a copy costs what STREAM's copy costs, and each access
// to an element in the tier costs more than one in DRAM by what STREAM's copy shows. So tables of a published node
// suffice (docs/inside/model.md, "Derived kernels").
#pragma once

#include <optional>
#include <span>
#include <string>

#include "node/model/channels.hpp"
#include "node/model/node.hpp"

namespace ringside {

/// The part of `seconds` that is spent in the cores, with the memory's part removed: (t^q - (bytes / C)^q)^(1/q).
double core_seconds(double seconds, double bytes, double capacity_bytes_s, double q) noexcept;

// channels: of the node. What is in DRAM is bounded by the channels of the first tier, what is in `tier` by the tier's,
// which may be the same.

/// Core seconds of one thread for an element of STREAM's copy within DRAM, from the first point of its series. Nothing
/// without that series.
std::optional<double> dram_copy_seconds(const Node& node, const Channels& channels, double q);

/// Seconds of one thread for one access to an element in `tier` beyond an access in DRAM, for each number of threads
/// that STREAM's copy in `tier` has; of the copy in DRAM the first point counts. Smoothed by the median of three
/// neighbours. Nothing if one of the series is missing.
std::optional<Series> access_seconds(const Node& node, const Channels& channels, const std::string& tier, double q);

/// The time of a copy of `rows` doubles from DRAM to `tier`, plain stores. bytes: moved through each group of channels.
std::optional<Series> derived_transfer(const Node& node, const Channels& channels, const std::string& tier,
                                       std::uint64_t rows, std::span<const double> bytes, double q);

/// The time of a sweep over `rows` doubles in `tier`, from that of a sweep in DRAM, which `in_dram` has for its rows.
/// bytes: as above, all of them in the tier.
std::optional<Series> derived_sweep(const Node& node, const Channels& channels, const std::string& tier,
                                    const KernelFigures& in_dram, std::uint64_t rows, std::span<const double> bytes,
                                    double q);

}  // namespace ringside
