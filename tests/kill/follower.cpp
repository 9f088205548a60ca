// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/follower.hpp"

#include <poll.h>

#include <utility>
#include <vector>

#include "common/telemetry/record_stream.hpp"

namespace ringside::testing {

Follower::Follower(std::function<std::string()> find_socket)
    : find_socket_(std::move(find_socket)), thread_([this] { follow(); }) {}

Follower::~Follower() {
  stop();
}

Follower::Seen Follower::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return std::move(seen_);
}

void Follower::follow() {
  std::string socket;
  while (!stop_ && (socket = find_socket_()).empty()) poll(nullptr, 0, 1);
  if (stop_) return;
  ChannelContext context;
  RecordStream stream(context, telemetry_at(socket), 0);
  std::vector<wire::Record> records;
  while (!stop_) {
    stream.next(records, 20);
    for (const wire::Record& record : records) seen_[record.seq()] = record.SerializeAsString();
  }
}

}  // namespace ringside::testing
