// SPDX-License-Identifier: BSD-3-Clause
// Finds the analyzer for a command: the one at --socket, the one that --tcp names, or the only live one on this machine
// (the analyzer of the service, or of a `ringside run` of this user).
#pragma once

#include <string>
#include <string_view>

#include "common/telemetry/record_stream.hpp"

namespace ringside {

class CommandLine;

struct ServiceOptions {
  std::string socket;  // the analyzer's socket; empty: search for it
  std::string tcp;     // HOST:PORT of the analyzer's telemetry
  std::string keys;    // folder of the client's keys, for `tcp`

  bool any() const noexcept { return !socket.empty() || !tcp.empty() || !keys.empty(); }
};

/// Declares --socket, --tcp and --keys.
void declare(CommandLine& line, ServiceOptions& options);

struct FoundService {
  TelemetryAddress address;
  std::string name;  // the name for messages: path of the socket, or HOST:PORT
  bool is_here;      // whether the analyzer is on this machine; `name` is then a path
};

/// Finds the analyzer that `options` name, or the only live one. Throws Error: exit code 2 for options that exclude
/// each other, or if several analyzers are alive and none was named; 4 if no live analyzer can be followed; `otherwise`
/// is then the advice for the user.
FoundService find_service(const ServiceOptions& options, std::string_view otherwise);

struct PoolSocket {
  std::string socket;       // empty: not found
  bool unanswered = false;  // whether the pool may belong to a live analyzer that has not reported its pool in time
};

/// The socket of this user's analyzer that has this pool and accepts requests. For POOL.global, the journal of a whole
/// run of several nodes: the socket at which the node of POOL publishes the records of the whole run.
PoolSocket socket_of_pool(const std::string& pool);

/// Whether no analyzer will return to the socket of `found`, because its folder no longer exists: `ringside run`
/// removes the folder of its sockets at its end.
bool is_gone_for_good(const FoundService& found);

}  // namespace ringside
