// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/survivors.hpp"

#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/telemetry/record_stream.hpp"

namespace ringside::testing {

namespace fs = std::filesystem;

Watcher::Watcher(std::string pool) : pool_(std::move(pool)), thread_([this] { watch(); }) {}

Watcher::~Watcher() {
  stop();
}

std::uint64_t Watcher::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return newest_;
}

void Watcher::watch() {
  std::vector<double> x;
  while (!stop_) {
    try {
      const RingReader reader = RingReader::open(pool_);
      x.resize(reader.ring().geometry().entries());
      while (!stop_ && fs::exists(pool_)) {
        const Recovery recovery = reader.recover();
        if (!recovery.kept.empty() && reader.read(recovery.kept.back(), x.data()).status == ReadStatus::kOk) {
          newest_ = std::max(newest_.load(), recovery.newest_iteration());
        }
        poll(nullptr, 0, 1);
      }
    } catch (const Error&) {  // the pool does not exist, or is unfinished
      poll(nullptr, 0, 1);
    }
  }
}

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
