// SPDX-License-Identifier: BSD-3-Clause
// A solver whose values become NaN. The solver runs below `ringside run`:
//   publish_poisoned STEPS ENTRIES FIRST LAST [KILL]
// Entry i of x at iteration k is k + i / ENTRIES; from iteration FIRST to LAST one entry is NaN (FIRST 0: never). At
// iteration KILL it kills the analyzer before it claims a buffer. Prints "reply VALUE NUMBER at K" for each new reply,
// and "ended after K" at the end. K is the iteration that was published last.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <ringside.hpp>

namespace {

/// The process that listens at the analyzer's socket.
pid_t analyzer() {
  const char* const path = std::getenv("RINGSIDE_SOCKET");
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path == nullptr ? "" : path, sizeof address.sun_path - 1);
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool found = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                     getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  close(fd);
  return found ? peer.pid : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::uint64_t steps = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t entries = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t first = std::strtoull(argv[3], nullptr, 10);
  const std::uint64_t last = std::strtoull(argv[4], nullptr, 10);
  const std::uint64_t kill_at = argc > 5 ? std::strtoull(argv[5], nullptr, 10) : 0;
  std::uint64_t published = 0;
  std::uint64_t replies = 0;
  try {
    ringside::Writer run({.solver = "poisoned"}, {ringside::field<double>("x", {entries})}, {{.name = "k"}});
    for (std::uint64_t k = run.next_iteration(); k <= steps; ++k) {
      if (k == kill_at) {
        if (const pid_t pid = analyzer(); pid <= 0 || kill(pid, SIGKILL) != 0) return 3;
      }
      if (!run.claim()) break;
      if (const auto reply = run.reply(); reply && reply->number != replies) {
        replies = reply->number;
        std::printf("reply %g %llu at %llu\n", reply->value, static_cast<unsigned long long>(replies),
                    static_cast<unsigned long long>(k));
      }
      const auto x = run.buffer<double>(0);
      for (std::uint64_t i = 0; i < entries; ++i) {
        x[i] = static_cast<double>(k) + static_cast<double>(i) / static_cast<double>(entries);
      }
      if (first != 0 && k >= first && k <= last) x[k % entries] = std::numeric_limits<double>::quiet_NaN();
      run.publish(k, {ringside::value(static_cast<double>(k))});
      published = k;
    }
    run.detach();
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "publish_poisoned: %s\n", error.what());
  }
  std::printf("ended after %llu\n", static_cast<unsigned long long>(published));
  return 0;
}
