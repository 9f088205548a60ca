// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run/node_link.hpp"

#include "analyzer/whole_run/part_store.hpp"
#include "analyzer/whole_run/round_message.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/program/log.hpp"
#include "common/ranks/node_address.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

// One connection is for the neighbour; the others are for its reconnections, and for unknown clients.
constexpr std::size_t kMostConnections = 8;

struct HostAndPort {
  std::string host;
  std::string port;
};

HostAndPort split(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const bool has_port = colon != std::string::npos && address.find(']', colon) == std::string::npos;
  HostAndPort found{address.substr(0, has_port ? colon : std::string::npos),
                    has_port ? address.substr(colon + 1) : "0"};
  const std::optional<std::uint64_t> port = whole_number(found.port);
  if (found.host.empty() || !port || *port > 65535) {
    throw usage_error("--node-address: found '{}', expected HOST or HOST:PORT, with a port up to 65535",
                      shortened(address));
  }
  return found;
}

}  // namespace

NodeLink::NodeLink(const std::string& address, const std::string& socket) {
  const HostAndPort place = split(address);
  const bool names_port = place.port != "0";
  zap_.emplace(
      context_, [this] { return admitted(); }, "the neighbouring node's");
  try {
    // If a run continues, its neighbours have only the keys and the port of the earlier analyzer.
    if (const std::optional<NodeAddress> before = read_node_address(socket)) {
      if (!is_key_text(before->public_key) || !is_key_text(before->secret_key)) {
        throw system_error("{}{}: found no keys", shortened(socket), kNodeAddressSuffix);
      }
      listen({before->public_key, before->secret_key}, names_port ? place.port : split(before->address).port);
    }
  } catch (const Error& error) {
    log_warning(
        "event=node_address text=\"{}; another address is used, so a current run has no whole-run results until its "
        "ranks attach again\"",
        error.what());
  }
  if (!gate_) listen(make_key_pair(), place.port);
  write_node_address(socket, {formatted("{}:{}", place.host, gate_->port(0)), keys_.public_key, keys_.secret_key});
}

void NodeLink::listen(const KeyPair& keys, const std::string& port) {
  keys_ = keys;
  arrivals_.emplace(context_, ChannelKind::kRouter,
                    ChannelOptions{.max_message_bytes = kMostRoundBytes,
                                   .high_water_mark = 2 * PartStore::kMost,
                                   .name = {},
                                   .curve = CurveKeys{.own = keys_, .server_key = {}},
                                   .curve_server = true});
  const std::string inner = "ringside-" + to_string(random_id());
  arrivals_->bind("ipc://@" + inner);
  gate_.emplace(std::vector{TcpGate::Door{.option = "--node-address", .host = "*", .port = port, .inner = inner}},
                kMostConnections);
}

void NodeLink::admit(const std::string& public_key) {
  const std::lock_guard lock(admitted_mutex_);
  admitted_ = {public_key};
}

std::vector<std::string> NodeLink::admitted() {
  const std::lock_guard lock(admitted_mutex_);
  return admitted_;
}

}  // namespace ringside
