// SPDX-License-Identifier: BSD-3-Clause
// Many subscribers in one process, for bench/telemetry.py: each has its own connection and reads ten times per second.
// The program prints a line when all are connected, and runs until it is killed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/platform/error.hpp"
#include "common/telemetry/record_stream.hpp"

int main(int argc, char** argv) {
  using namespace ringside;
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_followers SOCKET COUNT\n");
    return static_cast<int>(ExitCode::kUsage);
  }
  ChannelContext context;
  std::vector<Channel> channels;
  for (int i = std::atoi(argv[2]); i > 0; --i) {
    channels.emplace_back(context, ChannelKind::kSubscriber);
    channels.back().connect(telemetry_at(argv[1]).publisher);
  }
  for (Channel& channel : channels) channel.wait(10000);  // until a heartbeat arrives
  std::puts("connected");
  std::fflush(stdout);
  std::vector<std::string> frames;
  for (;; usleep(100'000)) {
    for (Channel& channel : channels) {
      while (channel.receive(frames)) {
      }
    }
  }
}
