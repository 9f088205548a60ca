// SPDX-License-Identifier: BSD-3-Clause
// Finds the analyzer for a command: at --socket, over TCP, or the one that is alive on this machine (the service's, or
// that of a `ringside run` of this user).
#pragma once

#include <string>
#include <string_view>

#include "common/telemetry/record_stream.hpp"

namespace ringside {

class CommandLine;

struct ServiceOptions {
  std::string socket;  // the analyzer's; empty: search for it
  std::string tcp;     // HOST:PORT of its telemetry
  std::string keys;    // folder of the client's keys, for `tcp`

  bool any() const noexcept { return !socket.empty() || !tcp.empty() || !keys.empty(); }
};

/// --socket, --tcp, --keys.
void declare(CommandLine& line, ServiceOptions& options);

struct FoundService {
  TelemetryAddress address;
  std::string name;  // for messages: path of the socket, or HOST:PORT
  bool is_here;      // on this machine: `name` is a path
};

/// Finds the analyzer that `options` name, or the only live one. Throws Error: exit code 2 for options that exclude
/// each other, or if several analyzers are alive and none was named; 4 if no live one can be followed. otherwise: the
/// advice for the user in that case.
FoundService find_service(const ServiceOptions& options, std::string_view otherwise);

/// The socket of this user's analyzer that has this pool and accepts requests; empty: not found. For POOL.global, the
/// journal of a whole run of several nodes: the socket at which the node of POOL publishes the whole run.
std::string socket_of_pool(const std::string& pool);

/// Whether no analyzer will return to the place of `found`: at its end, `ringside run` removes its sockets' folder.
bool is_gone_for_good(const FoundService& found);

}  // namespace ringside
