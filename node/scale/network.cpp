// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/network.hpp"

#include <bit>

namespace ringside {
namespace {

struct Known {
  std::string_view name;
  std::string_view figures;  // the network's figures in words
  Network network;
};

constexpr Known kNetworks[] = {
    {"infiniband", "1.2 us, 24 GB/s", {.alpha_s = 1.2e-6, .bytes_s = 24e9}},
    {"tcp", "25.4 us, 5 GB/s", {.alpha_s = 25.4e-6, .bytes_s = 5e9}},
};

}  // namespace

std::optional<Network> network_named(std::string_view name) {
  for (const Known& known : kNetworks) {
    if (known.name == name) return known.network;
  }
  return std::nullopt;
}

std::string names_of_networks() {
  std::string names;
  for (const Known& known : kNetworks) {
    names += names.empty() ? "" : ", ";
    names.append(known.name).append(" (").append(known.figures).append(")");
  }
  return names;
}

int rounds_of(std::uint32_t nodes) noexcept {
  return static_cast<int>(std::bit_width(nodes - 1));
}

}  // namespace ringside
