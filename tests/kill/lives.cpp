// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/lives.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include "analyzer/journal/journal.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/unique_fd.hpp"
#include "tests/kill/sequence.hpp"
#include "tests/kill/victim.hpp"

namespace ringside::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRows = 5000;
constexpr int kServiceSlots = 4;
constexpr const char* kEndless = "1000000000";

std::uint64_t acknowledged_in(const std::string& path) {
  std::uint64_t iteration = 0;
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || pread(file.get(), &iteration, sizeof iteration, 0) != sizeof iteration) return 0;
  return iteration;
}

bool is_of_the_sequence(std::uint64_t k, const double* x, std::uint64_t rows) {
  const Jump jump(k);
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (x[row] != jump(first_value(row))) return false;
  }
  return true;
}

/// Waits until the service listens: a service that has just started cannot handle SIGTERM yet.
void wait_for_service(Victim& analyzer, const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  for (const std::int64_t deadline = now_ns() + std::int64_t{kHangMs} * 1'000'000;
       analyzer.running() && now_ns() < deadline;) {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
    poll(nullptr, 0, 1);
  }
}

}  // namespace

void remove_pool(const std::string& pool) {
  fs::remove(pool);
  for (const std::string& file : journal_files_there(pool)) fs::remove(file);
}

void check_at_rest(const std::string& pool, std::uint64_t acknowledged, const IsIterate& is_iterate,
                   const Published& published, Tally& tally) {
  const PoolCheck check = check_pool_at_rest(pool, acknowledged, is_iterate, published);
  ++tally.checks;
  tally.iterates_checked += check.iterates_checked;
  tally.acknowledged += acknowledged;
  for (const std::string& violation : check.violations) tally.violations.push_back(pool + ": " + violation);
}

void check_journal(const std::string& pool, const Published& published, bool complete, const Follower::Seen& seen,
                   Tally& tally) {
  const JournalCheck check = check_journal_at_rest(pool, published, complete, seen);
  ++tally.journals_checked;
  tally.records_compared += check.records_compared;
  tally.unnamed_gaps += check.unnamed_gaps;
  if (complete) {  // count each record once, at the end of its life
    tally.steps_recorded += check.steps_recorded;
    tally.gaps_named += check.gaps_named;
    tally.steps_named += check.steps_named;
  }
  for (const std::string& violation : check.violations) tally.violations.push_back(pool + ": journal: " + violation);
}

void end_service(Victim& analyzer, const std::string& socket, Tally& tally) {
  wait_for_service(analyzer, socket);
  ::kill(analyzer.pid(), SIGTERM);
  ++tally.terms;
  expect_to_end(analyzer, "analyzer", tally);
  if (const auto ended = analyzer.wait(); ended && *ended != 0) {
    tally.violations.push_back(fmt::format("an analyzer that was told to end ended with exit code {}", *ended));
  }
  for (const char* suffix : {"", ".control", ".telemetry", ".steps"}) {
    if (!fs::exists(fs::symlink_status(socket + suffix))) continue;
    ++tally.sockets_left;
    tally.violations.push_back(fmt::format("{}{} was left behind by a clean end", socket, suffix));
  }
}

void expect_to_end(Victim& victim, const char* name, Tally& tally) {
  if (victim.wait()) return;
  ++tally.hangs;
  tally.violations.push_back(fmt::format("the {} does not end", name));
  victim.kill();
  victim.wait();
}

std::uint64_t Tally::all_kills() const {
  std::uint64_t sum = 0;
  for (const auto& [victim, count] : kills) sum += count;
  return sum;
}

void live_as_a_service(const Surroundings& at, std::mt19937_64& random, int deaths, Tally& tally) {
  const std::string pool = at.folder + "/service.pool";
  const std::string socket = at.folder + "/socket";
  const std::string acknowledgements = at.folder + "/acknowledged";
  const std::string log = at.folder + "/service.log";
  remove_pool(pool);
  fs::remove(acknowledgements);
  ++tally.lives;

  std::unique_ptr<Victim> analyzer;
  std::unique_ptr<Victim> producer;
  std::unique_ptr<Follower> follower;
  const auto start_analyzer = [&] {
    const std::vector<std::string> arguments = {"--socket=" + socket,
                                                "--pool=" + pool,
                                                "--slots=" + std::to_string(kServiceSlots),
                                                at.quiet_disk ? "--durability=process" : "--durability=power",
                                                either("--reduce=slot", "--reduce=transfer", random),
                                                "--journal-size=4M",  // so small that a long life rotates the journal
                                                "--shared-core",
                                                fmt::format("--peer-timeout={}", kPeerTimeoutS),
                                                "--log-level=off"};
    analyzer = std::make_unique<Victim>(at.programs + "/ringside-analyzer", arguments, log);
    if (!follower) follower = std::make_unique<Follower>([socket] { return socket; });
  };
  // For use while no process is alive.
  const auto check = [&](bool complete) {
    check_at_rest(pool, acknowledged_in(acknowledgements), is_of_the_sequence, {}, tally);
    check_journal(pool, {}, complete, follower->stop(), tally);
    follower.reset();
  };
  const auto start_producer = [&] {
    const std::vector<std::string> arguments = {socket,
                                                acknowledgements,
                                                std::to_string(kRows),
                                                kEndless,
                                                std::to_string(kPeerTimeoutS),
                                                either("locks", "messages", random)};
    producer = std::make_unique<Victim>(at.programs + "/acknowledging_producer", arguments, log);
  };
  const auto kill_one = [&](Victim& victim, const char* name) {
    // No process may have ended by itself: a producer waits for its analyzer, an analyzer serves the next producer.
    if (!victim.running()) tally.violations.push_back(fmt::format("the {} ended by itself, see {}", name, log));
    victim.kill();
    ++tally.kills[name];
    expect_to_end(victim, name, tally);
  };

  start_analyzer();
  start_producer();
  for (int death = 1; death <= deaths; ++death) {
    const std::uint64_t before = acknowledged_in(acknowledgements);
    if (!let_work_begin(random, [&] { return acknowledged_in(acknowledgements) != before; })) {
      ++tally.hangs;
      tally.violations.push_back("nothing more is committed, see " + log);
    }
    let_time_pass(random, 30);
    const int target = death == deaths ? 2 : std::uniform_int_distribution<int>(0, 2)(random);
    if (target == 0) {
      kill_one(*analyzer, "analyzer");
      start_analyzer();  // the new analyzer takes over
    } else if (target == 1) {
      kill_one(*producer, "producer");
      start_producer();  // the new producer continues the run
    } else {
      const bool analyzer_first = random() % 2 == 0;
      if (analyzer_first) kill_one(*analyzer, "analyzer");
      kill_one(*producer, "producer");
      if (!analyzer_first) kill_one(*analyzer, "analyzer");
      check(false);
      start_analyzer();
      start_producer();
    }
    for (const auto& [victim, name] : {std::pair(producer.get(), "producer"), std::pair(analyzer.get(), "analyzer")}) {
      if (!victim->running()) tally.violations.push_back(fmt::format("the {} ended by itself, see {}", name, log));
    }
  }
  // At the end, the service is stopped; then its pool and journal must be complete.
  const std::uint64_t before = acknowledged_in(acknowledgements);
  while (acknowledged_in(acknowledgements) == before && producer->running()) let_time_pass(random, 10);
  kill_one(*producer, "producer");
  end_service(*analyzer, socket, tally);
  check(true);
}

}  // namespace ringside::testing
