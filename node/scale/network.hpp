// SPDX-License-Identifier: BSD-3-Clause
// A network between nodes as two numbers (alpha and beta: R. W. Hockney, The communication challenge for MPP, 1994),
// and networks whose numbers were published (docs/inside/ranks.md, "Sources").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringside {

struct Network {
  double alpha_s = 0;     // the time of a message without content, from the sender's call to the receiver
  double bytes_s = 1e30;  // 1 / beta

  double message_s(double bytes) const noexcept { return alpha_s + bytes / bytes_s; }
};

/// Empty if no network has that name.
std::optional<Network> network_named(std::string_view name);

/// "infiniband (1.2 us, 24 GB/s), …": the networks of network_named.
std::string names_of_networks();

/// The least r with 2^r >= nodes; nodes is at least 1.
int rounds_of(std::uint32_t nodes) noexcept;

}  // namespace ringside
