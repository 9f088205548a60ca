// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/run_lives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "producer/solver/problem.hpp"
#include "tests/kill/survivors.hpp"
#include "tests/kill/victim.hpp"

namespace ringside::testing {
namespace {

namespace fs = std::filesystem;

// PageRank that is far from converged after kIterations: no two iterates are equal.
constexpr const char* kMatrix = "grid:100";
constexpr double kDamping = 0.9999;
constexpr int kIterations = 2000;
constexpr int kSlots = 5;
const std::string kPeerTimeout = fmt::format("--peer-timeout={}", kPeerTimeoutS);

bool kill_children(pid_t run, const char* program, Tally& tally) {
  const std::vector<pid_t> children = children_of(run, program);
  for (const pid_t pid : children) {
    ::kill(pid, SIGKILL);
    ++tally.kills[std::string(program) + " of a run"];
  }
  return !children.empty();
}

void kill_run(Victim& run, Tally& tally) {
  if (!run.running()) return;
  run.kill();
  ++tally.kills["run"];
}

/// The folders that `ringside run` makes for its sockets in `base`.
std::vector<fs::path> runtime_folders(const std::string& base) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    if (entry.path().filename().string().starts_with("ringside-") && entry.is_directory(ignored)) {
      found.push_back(entry.path());
    }
  }
  return found;
}

std::string socket_of_a_run(const std::string& base) {
  for (const fs::path& folder : runtime_folders(base)) {
    const fs::path socket = folder / "analyzer.socket";
    std::error_code ignored;
    if (fs::exists(fs::path(socket).concat(".control"), ignored)) return socket.string();
  }
  return {};
}

}  // namespace

RunsThatResume::RunsThatResume(const Surroundings& at) : at_(at) {
  SolveOptions options;
  options.matrix = kMatrix;
  options.damping = kDamping;
  const Problem problem = load_problem(options);
  std::vector<double> previous(problem.solver->rows());
  std::vector<double> next(problem.solver->rows());
  const auto keep = [this](const std::vector<double>& x) {
    undisturbed_.push_back(hash128(x.data(), x.size() * sizeof(double)));
  };
  problem.solver->start(previous.data());
  problem.solver->prepare(previous.data(), {});
  keep(previous);
  for (int k = 1; k <= kIterations; ++k) {
    problem.solver->iterate(previous.data(), next.data());
    keep(next);
    previous.swap(next);
  }
}

RunsThatResume::Run RunsThatResume::any_run(const std::string& name, std::mt19937_64& random) const {
  Run run{.pool = at_.folder + "/" + name + ".pool", .log = at_.folder + "/" + name + ".log", .published = {}};
  run.published.every = one_in(4, random) ? 2 : 1;
  run.published.skips = one_in(4, random);
  remove_pool(run.pool);
  return run;
}

std::vector<std::string> RunsThatResume::for_the_producer(const Run& run, std::mt19937_64& random) const {
  return {std::string("--matrix=") + kMatrix,
          fmt::format("--damping={}", kDamping),
          fmt::format("--iterations={}", kIterations),
          fmt::format("--every={}", run.published.every),
          run.published.skips ? "--when-full=skip" : "--when-full=wait",
          "--coordination=" + either("locks", "messages", random),
          "--resume"};
}

std::vector<std::string> RunsThatResume::for_the_analyzer(const Run& run, bool journal, std::mt19937_64& random) const {
  return {"--pool=" + run.pool, fmt::format("--slots={}", kSlots),
          at_.quiet_disk ? "--durability=process" : "--durability=power",
          either("--reduce=slot", "--reduce=transfer", random), journal ? "--journal=file" : "--journal=off"};
}

void RunsThatResume::check(const Run& run, std::uint64_t acknowledged, bool complete, const Follower::Seen& seen,
                           Tally& tally) const {
  const IsIterate is_iterate = [this](std::uint64_t k, const double* x, std::uint64_t rows) {
    return k < undisturbed_.size() && hash128(x, rows * sizeof(double)) == undisturbed_[k];
  };
  check_at_rest(run.pool, acknowledged, is_iterate, run.published, tally);
  check_journal(run.pool, run.published, complete, seen, tally);
}

void RunsThatResume::check_done(const Run& run, Tally& tally) const {
  ++tally.finished_runs;
  if (RingReader::open(run.pool).recover().newest_iteration() != kIterations) {
    tally.violations.push_back(run.pool + ": a run that was done did not keep its last iterate");
  }
}

void RunsThatResume::live(std::mt19937_64& random, Tally& tally) const {
  const Run life = any_run("run", random);
  ++tally.lives;
  std::uint64_t acknowledged = 0;
  // A finished run is resumed once more without a kill. The analyzer then names the steps that have no record because
  // of the last kill.
  for (bool done = false, settled = false; !settled;) {
    const bool journal = done || !one_in(8, random);
    for (const fs::path& folder : runtime_folders(at_.folder)) fs::remove_all(folder);
    Watcher watcher(life.pool);
    Follower follower([this] { return socket_of_a_run(at_.folder); });
    std::vector<std::string> words = {"run", kPeerTimeout, "--quiet", either("--elastic=off", "--elastic=on", random)};
    for (const auto& some : {for_the_producer(life, random), for_the_analyzer(life, journal, random)}) {
      words.insert(words.end(), some.begin(), some.end());
    }
    settled = done;
    Victim run(at_.programs + "/ringside", words, life.log);
    for (bool at_rest = settled; !at_rest;) {
      const std::uint64_t before = watcher.newest();
      if (!let_work_begin(random, [&] { return watcher.newest() != before || !run.running(); })) {
        ++tally.hangs;
        tally.violations.push_back("nothing more is committed, see " + life.log);
      }
      let_time_pass(random, 100);
      const int target = std::uniform_int_distribution<int>(0, 4)(random);
      if (target == 0) {
        kill_children(run.pid(), "ringside-analyzer", tally);  // another analyzer takes over
        continue;
      }
      if (target == 4) kill_run(run, tally);  // the children are killed at the same time
      const bool hit = target != 1 && kill_children(run.pid(), "ringside-producer", tally);
      if (target == 2 || target == 4) kill_children(run.pid(), "ringside-analyzer", tally);
      // If no producer was hit, either the producer had not started yet, and the run continues with another analyzer,
      // or the run is over.
      if (target == 2 && !hit && run.running()) continue;
      if (target == 1 || target == 3) kill_run(run, tally);
      at_rest = true;
    }
    expect_to_end(run, "run", tally);
    const std::optional<int> ended = run.wait();
    done = done || ended == 0;
    const bool was_killed = ended == 128 + SIGKILL || ended == static_cast<int>(ExitCode::kPeerLost);
    if (ended && ended != 0 && (!was_killed || settled)) {
      tally.violations.push_back(
          fmt::format("a run that was to continue ended with exit code {}, see {}", *ended, life.log));
      return;
    }
    if (!wait_for_orphans()) {
      ++tally.hangs;
      tally.violations.push_back("a process was left behind by `ringside run`");
    }
    acknowledged = std::max(acknowledged, watcher.stop());
    const Follower::Seen seen = follower.stop();
    check(life, acknowledged, settled, journal ? seen : Follower::Seen(), tally);
  }
  check_done(life, tally);
}

void RunsThatResume::live_apart(std::mt19937_64& random, Tally& tally) const {
  const Run life = any_run("apart", random);
  const std::string socket = at_.folder + "/apart";
  ++tally.lives;
  std::uint64_t acknowledged = 0;
  for (bool done = false, settled = false; !settled;) {
    const bool journal = done || !one_in(8, random);
    settled = done;
    Watcher watcher(life.pool);
    Follower follower([&socket] { return socket; });
    const auto start = [&](const char* program, std::vector<std::string> words) {
      for (const char* word : {"--shared-core", "--log-level=off"}) words.emplace_back(word);
      words.push_back(kPeerTimeout);
      words.push_back("--socket=" + socket);
      return std::make_unique<Victim>(at_.programs + "/" + program, words, life.log);
    };
    const auto kill_one = [&](Victim& victim, const char* name) {
      victim.kill();
      ++tally.kills[name];
    };
    auto analyzer = start("ringside-analyzer", for_the_analyzer(life, journal, random));
    auto producer = start("ringside-producer", for_the_producer(life, random));
    bool both = false;
    while (!both && producer->running() && !settled) {
      const std::uint64_t before = watcher.newest();
      if (!let_work_begin(random, [&] { return watcher.newest() != before || !producer->running(); })) {
        ++tally.hangs;
        tally.violations.push_back("nothing more is committed, see " + life.log);
      }
      let_time_pass(random, 100);
      if (!producer->running()) break;
      const int target = std::uniform_int_distribution<int>(0, 3)(random);
      if (target == 0) {
        kill_one(*analyzer, "analyzer");
        expect_to_end(*analyzer, "analyzer", tally);
        analyzer = start("ringside-analyzer", for_the_analyzer(life, journal, random));
      } else if (target == 1) {
        kill_one(*producer, "producer");
        expect_to_end(*producer, "producer", tally);
        producer = start("ringside-producer", for_the_producer(life, random));
      } else {
        both = true;
        if (target == 2) kill_one(*producer, "producer");
        kill_one(*analyzer, "analyzer");
        if (target == 3) kill_one(*producer, "producer");
      }
    }
    expect_to_end(*producer, "producer", tally);
    if (both) expect_to_end(*analyzer, "analyzer", tally);
    const std::optional<int> ended = producer->wait();
    if (!both && ended && *ended != 0) {
      tally.violations.push_back(
          fmt::format("a producer that was not killed ended with exit code {}, see {}", *ended, life.log));
      return;
    }
    if (!both) {
      end_service(*analyzer, socket, tally);
      done = true;
    }
    acknowledged = std::max(acknowledged, watcher.stop());
    const Follower::Seen seen = follower.stop();
    check(life, acknowledged, settled, journal ? seen : Follower::Seen(), tally);
  }
  check_done(life, tally);
}

}  // namespace ringside::testing
