// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/derived_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "node/model/kernel_time.hpp"

namespace ringside {
namespace {

constexpr double kCopyCountedBytes = 16;  // per element of STREAM's copy: 8 read, 8 written
constexpr double kCopyMovedBytes = 24;    // also 8 of the line that a plain store reads first
constexpr double kCopyAccesses = 2;       // accesses to an element, each of them in the tier

const Series* copy_rates(const Node& node, const std::string& tier) {
  for (const StreamFigures& stream : node.streams) {
    if (stream.kernel == "copy" && stream.tier == tier) return &stream.gb_s;
  }
  return nullptr;
}

/// The core seconds that one thread takes for an element of STREAM's copy.
double copy_core_seconds(const Series::Point& rate, double capacity_bytes_s, double q) {
  const double all = kCopyCountedBytes / (rate.figure.value * 1e9);  // per element, by all threads together
  return core_seconds(all, kCopyMovedBytes, capacity_bytes_s, q) * rate.threads;
}

void smooth(std::vector<Series::Point>& points) {
  const std::vector<Series::Point> before = points;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    std::array three = {before[i - 1].figure.value, before[i].figure.value, before[i + 1].figure.value};
    std::sort(three.begin(), three.end());
    points[i].figure.value = three[1];
  }
}

/// The time of a kernel that runs alone, from its core seconds `core`: (core^q + sum_g (bytes_g / C_g)^q)^(1/q).
Series alone(const Series& core, std::span<const double> bytes, const Channels& channels, double q) {
  Series result = core;
  for (Series::Point& point : result.points) {
    point.figure.value /= point.threads;
    for (std::size_t g = 0; g < bytes.size(); ++g) {
      if (bytes[g] <= 0) continue;  // such channels may have no rate
      point.figure.value = soft_sum(point.figure.value, bytes[g] / channels.capacity_bytes_s[g], q);
    }
  }
  return result;
}

double dram_capacity(const Channels& channels) {
  return channels.capacity_bytes_s[channels.group_of_tier.front()];
}

}  // namespace

double core_seconds(double seconds, double bytes, double capacity_bytes_s, double q) noexcept {
  // At saturation, the difference is only noise. The limit keeps the core time above 0.
  constexpr double kLeast = 0.05;
  const double memory = std::min(bytes / capacity_bytes_s / seconds, 1.0);
  return seconds * std::pow(std::max(1 - std::pow(memory, q), kLeast), 1 / q);
}

std::optional<double> dram_copy_seconds(const Node& node, const Channels& channels, double q) {
  const Series* const in_dram = copy_rates(node, node.tiers.front().name);
  if (in_dram == nullptr) return std::nullopt;
  return copy_core_seconds(in_dram->points.front(), dram_capacity(channels), q);
}

std::optional<Series> access_seconds(const Node& node, const Channels& channels, const std::string& tier, double q) {
  const std::optional<double> dram_s = dram_copy_seconds(node, channels, q);
  const Series* const in_tier = copy_rates(node, tier);
  if (!dram_s || in_tier == nullptr) return std::nullopt;
  const double capacity_bytes_s = channels.capacity_bytes_s[group_of(channels, node, tier)];
  Series result;
  for (const Series::Point& rate : in_tier->points) {
    const double more = copy_core_seconds(rate, capacity_bytes_s, q) - *dram_s;
    result.points.push_back({rate.threads, {std::max(more, 0.0) / kCopyAccesses, rate.figure.spread}});
  }
  smooth(result.points);
  return result;
}

std::optional<Series> derived_transfer(const Node& node, const Channels& channels, const std::string& tier,
                                       std::uint64_t elements, std::span<const double> bytes, double q) {
  const std::optional<double> dram_s = dram_copy_seconds(node, channels, q);
  std::optional<Series> core = access_seconds(node, channels, tier, q);
  if (!core) return std::nullopt;
  for (Series::Point& point : core->points) {
    point.figure.value = (*dram_s + point.figure.value) * static_cast<double>(elements);
  }
  return alone(*core, bytes, channels, q);
}

std::optional<Series> derived_sweep(const Node& node, const Channels& channels, const std::string& tier,
                                    const KernelFigures& in_dram, std::uint64_t rows, std::span<const double> bytes,
                                    double q) {
  std::optional<Series> core = access_seconds(node, channels, tier, q);
  if (!core) return std::nullopt;
  const double ratio = static_cast<double>(rows) / static_cast<double>(in_dram.problem.rows);
  const Series::Point& one = in_dram.seconds.points.front();
  const double moved = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  const double dram_s = core_seconds(one.figure.value * ratio, moved, dram_capacity(channels), q) * one.threads;
  for (Series::Point& point : core->points) {
    point.figure.value = dram_s + point.figure.value * static_cast<double>(rows);
  }
  return alone(*core, bytes, channels, q);
}

}  // namespace ringside
