// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/channels.hpp"

#include <array>
#include <string_view>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

struct MovedBytes {
  std::string_view kernel;
  double moved_per_counted;
};
constexpr std::array kMovedBytes = {
    MovedBytes{"read", 1.0},        MovedBytes{"copy", 24.0 / 16}, MovedBytes{"copy_nontemporal", 1.0},
    MovedBytes{"scale", 24.0 / 16}, MovedBytes{"add", 32.0 / 24},  MovedBytes{"triad", 32.0 / 24}};

std::size_t index_of(const Node& node, const std::string& tier) {
  for (std::size_t i = 0; i < node.tiers.size(); ++i) {
    if (node.tiers[i].name == tier) return i;
  }
  return 0;  // impossible: the node's reader refuses such files
}

/// The index of the tier whose channels tier `i` uses; `i` itself if the tier has its own channels.
std::size_t owner_of_channels(const Node& node, std::size_t i) {
  const Tier& tier = node.tiers[i];
  if (!tier.shares_with.empty()) return index_of(node, tier.shares_with);
  const bool in_dram = tier.kind == TierKind::kPageCache || tier.kind == TierKind::kTmpfs;
  return in_dram ? 0 : i;
}

}  // namespace

std::size_t group_of(const Channels& channels, const Node& node, const std::string& tier) {
  return channels.group_of_tier[index_of(node, tier)];
}

std::vector<std::string_view> modelled_streams() {
  std::vector<std::string_view> names;
  for (const MovedBytes& entry : kMovedBytes) names.push_back(entry.kernel);
  return names;
}

double moved_per_counted(const std::string& stream_kernel) noexcept {
  for (const MovedBytes& entry : kMovedBytes) {
    if (entry.kernel == stream_kernel) return entry.moved_per_counted;
  }
  return 0;
}

Channels channels_of(const Node& node) {
  constexpr double kBytesPerGB = 1e9;
  Channels channels;
  for (std::size_t i = 0; i < node.tiers.size(); ++i) {
    const std::size_t owner = owner_of_channels(node, i);
    if (owner < i) {
      channels.group_of_tier.push_back(channels.group_of_tier[owner]);
      continue;
    }
    channels.group_of_tier.push_back(channels.groups());
    channels.capacity_bytes_s.push_back(0);
    channels.spread.push_back(0);
  }
  for (const StreamFigures& stream : node.streams) {
    const std::size_t group = channels.group_of_tier[index_of(node, stream.tier)];
    const double factor = moved_per_counted(stream.kernel);
    for (const Series::Point& point : stream.gb_s.points) {
      const double moved = point.figure.value * factor * kBytesPerGB;
      if (moved <= channels.capacity_bytes_s[group]) continue;
      channels.capacity_bytes_s[group] = moved;
      channels.spread[group] = point.figure.spread;
    }
  }
  return channels;
}

void require_rate(const Channels& channels, const Node& node, const std::string& tier) {
  if (channels.capacity_bytes_s[group_of(channels, node, tier)] > 0) return;
  throw usage_error("{}: found no rate of a STREAM kernel for the tier '{}', expected at least one in 'streams'",
                    node.name, tier);
}

}  // namespace ringside
