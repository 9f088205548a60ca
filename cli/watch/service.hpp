// SPDX-License-Identifier: BSD-3-Clause
// Finds the analyzer that a command talks to: at --socket, over TCP, or the one that is alive on this machine (the
// service's, or that of a `ringside run` of this user).
#pragma once

#include <string>
#include <string_view>

#include "common/telemetry/record_stream.hpp"

namespace ringside {

class CommandLine;

struct ServiceOptions {
  std::string socket;  // the analyzer's; empty: it is searched for
  std::string tcp;     // HOST:PORT of its telemetry
  std::string keys;    // folder of the client's keys: with `tcp`

  bool any() const noexcept { return !socket.empty() || !tcp.empty() || !keys.empty(); }
};

/// --socket, --tcp, --keys.
void declare(CommandLine& line, ServiceOptions& options);

struct FoundService {
  TelemetryAddress address;
  std::string name;  // for messages: the socket's path, or HOST:PORT
  bool is_here;      // on this machine: `name` is a path
};

/// Finds the analyzer that `options` name, or the only one alive. Throws Error: exit code 2 for options that exclude
/// each other, or if several analyzers are alive and none was named; 4 if none is alive that can be followed.
/// otherwise: what else a user may do then.
FoundService find_service(const ServiceOptions& options, std::string_view otherwise);

/// The socket of the analyzer of this user that has this pool, and takes requests; empty: none is found. For POOL.global,
/// the journal of a whole run of several nodes: the socket at which the node that has POOL publishes the whole.
std::string socket_of_pool(const std::string& pool);

/// Whether no analyzer will return to where `found` was: a `ringside run` ends by removing the folder of its sockets.
bool is_gone_for_good(const FoundService& found);

}  // namespace ringside
