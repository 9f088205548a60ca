// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/watcher.hpp"

#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"

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
    } catch (const Error&) {  // no pool, or not finished
      poll(nullptr, 0, 1);
    }
  }
}

}  // namespace ringside::testing
