// SPDX-License-Identifier: BSD-3-Clause
#include "cli/watch/service.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "cli/supervision/runtime_folder.hpp"
#include "cli/terminal/run_text.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ranks/node_address.hpp"
#include "common/telemetry/key_folder.hpp"

namespace ringside {
namespace {

constexpr int kDescriptionPatienceMs = 500;
// How long a listening analyzer may take to report its pool. On a busy machine, the analyzer's low-priority recorder
// may take long.
constexpr int kPoolPatienceMs = 3000;

enum class Whose { kOurs, kAnybodys };

/// Whether a live analyzer that can be followed listens at `socket`. Connects to the control socket, because the
/// analyzer expects a producer as the next peer of its other socket.
bool is_served(const std::string& socket, Whose whose) {
  const std::string path = socket + ".control";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::copy(path.begin(), path.end(), address.sun_path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         (whose == Whose::kAnybodys || peer.uid == geteuid());
}

/// The sockets of this user's live analyzers on this machine. For root, these include the service's socket, whatever
/// user runs the service, because only root can have made the folder of the service's socket. The folders of other
/// sockets may have been made by any user.
std::set<std::string> living(Reach reach) {
  std::set<std::string> found;
  const std::string of_service = ProcessOptions().socket;
  if (is_served(of_service, geteuid() == 0 ? Whose::kAnybodys : Whose::kOurs)) found.insert(of_service);
  for (const std::string& socket : sockets_of_runs(reach)) {
    if (is_served(socket, Whose::kOurs)) found.insert(socket);
  }
  return found;
}

/// "/tmp/ringside-x/socket (pagerank of grid:50, pool a.pool)"; only the socket if the analyzer does not answer soon.
std::string described(ChannelContext& context, const std::string& socket) {
  RecordStream stream(context, telemetry_at(socket), RecordStream::kNoRecords);
  const std::optional<wire::Status> status = stream.status(kDescriptionPatienceMs);
  if (!status) return socket;
  const wire::RunStarted& run = status->run();
  const std::string problem =
      status->has_run() ? problem_text(run.solver(), run.matrix(), run.parameters()) + ", " : std::string();
  return fmt::format("{} ({}pool {})", socket, problem, status->pool());
}

FoundService over_tcp(const ServiceOptions& options) {
  if (options.keys.empty()) {
    throw usage_error(
        "--tcp: found without --keys, expected the folder of a client's keys, which `ringside keygen FOLDER --client "
        "NAME` makes where the analyzer runs");
  }
  return {telemetry_at_tcp(options.tcp, "--tcp", read_client_keys(options.keys)), options.tcp, false};
}

}  // namespace

void declare(CommandLine& line, ServiceOptions& options) {
  line.option("--socket", options.socket,
              "the analyzer's socket (default: the socket of the only analyzer alive on this machine)")
      .value_name("PATH");
  line.option("--tcp", options.tcp,
              "the address of an analyzer on another machine, which was started with --telemetry-tcp")
      .value_name("HOST:PORT");
  line.option("--keys", options.keys, "with --tcp: the folder with this client's keys, as `ringside keygen` made it")
      .value_name("FOLDER");
}

FoundService find_service(const ServiceOptions& options, std::string_view otherwise) {
  if (!options.tcp.empty() && !options.socket.empty()) {
    throw usage_error("--socket, --tcp: found both, expected at most one of them");
  }
  if (options.tcp.empty() && !options.keys.empty()) {
    throw usage_error("--keys: found without --tcp, expected with it, because followers on this machine need no key");
  }
  if (!options.tcp.empty()) return over_tcp(options);
  if (!options.socket.empty()) return {telemetry_at(options.socket), options.socket, true};
  const std::set<std::string> sockets = living(Reach::kOwn);
  if (sockets.empty()) {
    throw peer_error(
        "found no analyzer of this user on this machine that can be followed (is one alive, with --telemetry on?); "
        "name its --socket, or {}",
        otherwise);
  }
  if (sockets.size() > 1) {
    ChannelContext context;
    std::vector<std::string> choice;
    for (const std::string& socket : sockets) choice.push_back(described(context, socket));
    throw usage_error("--socket: several analyzers are alive, expected one of {}", joined(choice, ", "));
  }
  // On the first node of a run of several nodes, the command follows the whole run instead of the node.
  const std::string global = *sockets.begin() + kGlobalSuffix;
  const std::string& found = is_served(global, Whose::kAnybodys) ? global : *sockets.begin();
  return {telemetry_at(found), found, true};
}

PoolSocket socket_of_pool(const std::string& pool) {
  // A whole run has a journal, POOL.global, but no pool.
  const std::string_view of_node = std::string_view(pool).ends_with(kGlobalSuffix)
                                       ? std::string_view(pool).substr(0, pool.size() - std::strlen(kGlobalSuffix))
                                       : std::string_view();
  ChannelContext context;
  PoolSocket found;
  for (const std::string& socket : living(Reach::kAll)) {
    RecordStream stream(context, telemetry_at(socket), RecordStream::kNoRecords);
    const std::optional<wire::Status> status = stream.status(kPoolPatienceMs);
    std::error_code missing;
    if (!status) {
      found.unanswered = true;
      continue;
    }
    if (std::filesystem::equivalent(status->pool(), pool, missing)) return {.socket = socket};
    const std::string global = socket + kGlobalSuffix;
    if (!of_node.empty() && std::filesystem::equivalent(status->pool(), of_node, missing) &&
        is_served(global, Whose::kAnybodys)) {
      return {.socket = global};
    }
  }
  return found;
}

bool is_gone_for_good(const FoundService& found) {
  if (!found.is_here) return false;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(found.name, error).parent_path();
  return !error && !std::filesystem::exists(folder, error) && !error;
}

}  // namespace ringside
