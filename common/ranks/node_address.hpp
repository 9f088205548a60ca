// SPDX-License-Identifier: BSD-3-Clause
// Where the analyzers of other nodes reach the one of this node, in the file SOCKET.node beside its socket. The node's
// first rank reads it before it attaches, and the ranks tell each other (docs/publish/mpi.md, "Results of the whole
// run"). An analyzer that is restarted takes the same address and keys, because its neighbours know no others.
#pragma once

#include <optional>
#include <string>

namespace ringside {

/// Appended to the path of the analyzer's socket.
inline constexpr const char* kNodeAddressSuffix = ".node";

/// Appended to the names of the first node's pool and socket: the journal and the sockets of the whole run.
inline constexpr const char* kGlobalSuffix = ".global";

struct NodeAddress {
  std::string address;     // HOST:PORT
  std::string public_key;  // CURVE's, 40 characters
  std::string secret_key;  // its other half; only the owner can read the file
};

/// Nothing if the analyzer at this socket takes part in no round. Throws Error (exit code 3) if the file is there, and is not
/// this user's alone or cannot be read.
std::optional<NodeAddress> read_node_address(const std::string& socket);

void remove_node_address(const std::string& socket) noexcept;

/// Throws Error (exit code 3).
void write_node_address(const std::string& socket, const NodeAddress& address);

}  // namespace ringside
