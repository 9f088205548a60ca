// Where the analyzer is that a command is to talk to: at --socket, over tcp, or the one that runs on this machine: the
// service's, or that of a `ringside run` of this user.
#pragma once

#include <string>
#include <string_view>

#include "common/telemetry/record_stream.hpp"

namespace CLI {
class App;
}

namespace ringside {

struct ServiceOptions {
  std::string socket;  // the analyzer's; empty: found
  std::string tcp;     // HOST:PORT of its telemetry
  std::string keys;    // folder of the client's keys: with `tcp`
};

/// --socket, --tcp, --keys.
void declare(CLI::App& app, ServiceOptions& options);

struct FoundService {
  TelemetryAddress address;
  std::string name;  // for messages: the socket's path, or HOST:PORT
  bool is_here;      // on this machine: `name` is a path
};

/// Throws Error: exit code 2 for options that do not go together, or where several analyzers live and none was named;
/// 4 where none lives that can be followed. otherwise: what else a user may do then.
FoundService find_service(const ServiceOptions& options, std::string_view otherwise);

/// A `ringside run` takes the folder of its sockets with it: then nobody will come back to where `found` was.
bool is_gone_for_good(const FoundService& found);

}  // namespace ringside
