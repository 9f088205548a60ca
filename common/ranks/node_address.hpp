// SPDX-License-Identifier: BSD-3-Clause
// The address at which other nodes' analyzers reach this node's, in the file SOCKET.node beside its socket. The node's
// first rank reads it before attaching, and the ranks exchange all addresses (docs/publish/mpi.md, "Results of the
// whole run"). A restarted analyzer keeps address and keys, because its neighbours have no others.
#pragma once

#include <optional>
#include <string>

namespace ringside {

/// Appended to the path of the analyzer's socket.
inline constexpr const char* kNodeAddressSuffix = ".node";

/// Appended to the first node's pool and socket for the names of the whole run's journal and sockets.
inline constexpr const char* kGlobalSuffix = ".global";

struct NodeAddress {
  std::string address;     // HOST:PORT
  std::string public_key;  // CURVE's, 40 characters
  std::string secret_key;  // of the same pair; only the owner can read the file
};

/// Nothing if there is no file: the analyzer at this socket takes part in no round. Throws Error (exit code 3) if the
/// file cannot be read, or other users own it or may access it.
std::optional<NodeAddress> read_node_address(const std::string& socket);

void remove_node_address(const std::string& socket) noexcept;

/// Throws Error (exit code 3).
void write_node_address(const std::string& socket, const NodeAddress& address);

}  // namespace ringside
