// SPDX-License-Identifier: BSD-3-Clause
// The address at which the analyzers of other nodes reach the analyzer of this node. The address is stored in the file
// SOCKET.node beside the analyzer's socket. The node's first rank reads the file before attaching, and the ranks
// exchange all addresses (docs/publish/mpi.md, "Results of the whole run"). A restarted analyzer keeps its address and
// keys, because the other nodes were given only these.
#pragma once

#include <optional>
#include <string>

namespace ringside {

/// The ending that is appended to the path of the analyzer's socket.
inline constexpr const char* kNodeAddressSuffix = ".node";

/// With this ending, the paths of the first node's pool and socket become the paths of the whole run's journal and
/// sockets.
inline constexpr const char* kGlobalSuffix = ".global";

struct NodeAddress {
  std::string address;     // HOST:PORT
  std::string public_key;  // a CURVE key of 40 characters
  std::string secret_key;  // of the same key pair; only the owner can read the file
};

/// Reads the file. Returns nothing if there is no such file: the analyzer at this socket then takes part in no round.
/// Throws Error (exit code 3) if the file cannot be read, or other users own it or may access it.
std::optional<NodeAddress> read_node_address(const std::string& socket);

void remove_node_address(const std::string& socket) noexcept;

/// Writes the file. Throws Error (exit code 3).
void write_node_address(const std::string& socket, const NodeAddress& address);

}  // namespace ringside
