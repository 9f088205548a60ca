#include "tests/kill/lives.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/options.hpp"
#include "producer/problem.hpp"
#include "tests/kill/pool_check.hpp"
#include "tests/kill/sequence.hpp"
#include "tests/kill/victim.hpp"

namespace ringside::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRows = 5000;
constexpr int kServiceSlots = 4;
constexpr const char* kEndless = "1000000000";

// PageRank that is far from converged after so many iterations: no two iterates are the same.
constexpr const char* kRunMatrix = "grid:100";
constexpr double kRunDamping = 0.9999;
constexpr int kRunIterations = 2000;
constexpr int kRunSlots = 5;

/// Mostly waits until `progress` is true: what is killed has something to lose then. False if that never happens.
bool let_work_begin(std::mt19937_64& random, const std::function<bool()>& progress) {
  if (std::uniform_int_distribution<int>(0, 3)(random) == 0) return true;
  for (const std::int64_t deadline = now_ns() + std::int64_t{kHangMs} * 1'000'000; !progress();) {
    if (now_ns() > deadline) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

/// Then a random instant: often soon, sometimes well into the work.
void let_time_pass(std::mt19937_64& random, int at_most_ms) {
  const double share = std::uniform_real_distribution<double>(0, 1)(random);
  const auto us = static_cast<long>(share * share * at_most_ms * 1000);
  const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
  ppoll(nullptr, 0, &time, nullptr);
}

/// Each life of a producer may tell of its steps in another way than the one before.
std::string any_coordination(std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(0, 1)(random) == 0 ? "locks" : "messages";
}

/// And each life of an analyzer may reduce in the slots or on the way there.
std::string any_reduction(std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(0, 1)(random) == 0 ? "--reduce=slot" : "--reduce=transfer";
}

/// And either may lend its cores while it waits, where there is one for each.
std::string any_elastic(std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(0, 1)(random) == 0 ? "--elastic=off" : "--elastic=on";
}

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

void check_at_rest(const std::string& pool, std::uint64_t acknowledged, const IsIterate& is_iterate, Tally& tally) {
  const PoolCheck check = check_pool_at_rest(pool, acknowledged, is_iterate);
  ++tally.checks;
  tally.iterates_checked += check.iterates_checked;
  tally.acknowledged += acknowledged;
  for (const std::string& violation : check.violations) tally.violations.push_back(pool + ": " + violation);
}

void expect_to_end(Victim& victim, const char* name, Tally& tally) {
  if (victim.wait()) return;
  ++tally.hangs;
  tally.violations.push_back(fmt::format("the {} does not end", name));
  victim.kill();
  victim.wait();
}

/// Looks at the pool from outside, and remembers the newest iteration it read as a whole.
class Watcher {
 public:
  explicit Watcher(std::string pool) : pool_(std::move(pool)), thread_([this] { watch(); }) {}
  ~Watcher() { stop(); }
  std::uint64_t newest() const { return newest_; }
  std::uint64_t stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return newest_;
  }

 private:
  void watch() {
    std::vector<double> x;
    while (!stop_) {
      try {
        const RingReader reader = RingReader::open(pool_);
        x.resize(reader.ring().geometry().rows);
        while (!stop_ && fs::exists(pool_)) {
          const Recovery recovery = reader.recover();
          if (!recovery.kept.empty() && reader.read(recovery.kept.back(), x.data()).status == ReadStatus::kOk) {
            newest_ = std::max(newest_.load(), recovery.newest_iteration());
          }
          poll(nullptr, 0, 1);
        }
      } catch (const Error&) {  // not there, or not finished
        poll(nullptr, 0, 1);
      }
    }
  }

  std::string pool_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> newest_{0};
  std::thread thread_;
};

}  // namespace

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
  fs::remove(pool);
  fs::remove(acknowledgements);
  ++tally.lives;

  std::unique_ptr<Victim> analyzer;
  std::unique_ptr<Victim> producer;
  const auto start_analyzer = [&] {
    const std::vector<std::string> arguments = {"--socket=" + socket,
                                                "--pool=" + pool,
                                                "--slots=" + std::to_string(kServiceSlots),
                                                at.quiet_disk ? "--durability=process" : "--durability=power",
                                                any_reduction(random),
                                                "--shared-core",
                                                "--peer-timeout=10",
                                                "--log-level=off"};
    analyzer = std::make_unique<Victim>(at.programs + "/ringside-analyzer", arguments, log);
  };
  const auto start_producer = [&] {
    const std::vector<std::string> arguments = {socket, acknowledgements,        std::to_string(kRows), kEndless,
                                                "10",   any_coordination(random)};
    producer = std::make_unique<Victim>(at.programs + "/acknowledging_producer", arguments, log);
  };
  const auto kill_one = [&](Victim& victim, const char* name) {
    // Nobody may have ended by itself: the producer has waited for its analyzer, the analyzer serves the next.
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
      start_analyzer();  // which takes over
    } else if (target == 1) {
      kill_one(*producer, "producer");
      start_producer();  // which goes on
    } else {
      const bool analyzer_first = random() % 2 == 0;
      if (analyzer_first) kill_one(*analyzer, "analyzer");
      kill_one(*producer, "producer");
      if (!analyzer_first) kill_one(*analyzer, "analyzer");
      check_at_rest(pool, acknowledged_in(acknowledgements), is_of_the_sequence, tally);
      start_analyzer();
      start_producer();
    }
    for (const auto& [victim, name] : {std::pair(producer.get(), "producer"), std::pair(analyzer.get(), "analyzer")}) {
      if (!victim->running()) tally.violations.push_back(fmt::format("the {} ended by itself, see {}", name, log));
    }
  }
  producer->kill();
  analyzer->kill();
  expect_to_end(*producer, "producer", tally);
  expect_to_end(*analyzer, "analyzer", tally);
}

RunsThatResume::RunsThatResume(const Surroundings& at) : at_(at) {
  SolveOptions options;
  options.matrix = kRunMatrix;
  options.damping = kRunDamping;
  const Problem problem = load_problem(options);
  std::vector<double> previous(problem.solver->rows());
  std::vector<double> next(problem.solver->rows());
  const auto keep = [this](const std::vector<double>& x) {
    undisturbed_.push_back(hash128(x.data(), x.size() * sizeof(double)));
  };
  problem.solver->start(previous.data());
  problem.solver->prepare(previous.data());
  keep(previous);
  for (int k = 1; k <= kRunIterations; ++k) {
    problem.solver->iterate(previous.data(), next.data());
    keep(next);
    previous.swap(next);
  }
}

std::vector<std::string> RunsThatResume::arguments(const std::string& pool, const std::string& coordination) const {
  return {"run",
          std::string("--matrix=") + kRunMatrix,
          fmt::format("--damping={}", kRunDamping),
          "--iterations=" + std::to_string(kRunIterations),
          "--pool=" + pool,
          "--slots=" + std::to_string(kRunSlots),
          at_.quiet_disk ? "--durability=process" : "--durability=power",
          "--peer-timeout=10",
          "--coordination=" + coordination,
          "--resume",
          "--quiet"};
}

void RunsThatResume::live(std::mt19937_64& random, Tally& tally) const {
  const std::string pool = at_.folder + "/run.pool";
  const std::string log = at_.folder + "/run.log";
  const IsIterate is_iterate = [this](std::uint64_t k, const double* x, std::uint64_t rows) {
    return k < undisturbed_.size() && hash128(x, rows * sizeof(double)) == undisturbed_[k];
  };
  const auto kill_children = [&tally](pid_t run, const char* program) {
    const std::vector<pid_t> children = children_of(run, program);
    for (const pid_t pid : children) {
      ::kill(pid, SIGKILL);
      ++tally.kills[std::string(program) + " of a run"];
    }
    return !children.empty();
  };
  fs::remove(pool);
  ++tally.lives;
  std::uint64_t acknowledged = 0;
  for (bool done = false; !done;) {
    Watcher watcher(pool);
    std::vector<std::string> words = arguments(pool, any_coordination(random));
    words.push_back(any_reduction(random));
    words.push_back(any_elastic(random));
    Victim run(at_.programs + "/ringside", words, log);
    for (bool at_rest = false; !at_rest;) {
      const std::uint64_t before = watcher.newest();
      if (!let_work_begin(random, [&] { return watcher.newest() != before || !run.running(); })) {
        ++tally.hangs;
        tally.violations.push_back("nothing more is committed, see " + log);
      }
      let_time_pass(random, 100);
      const int target = std::uniform_int_distribution<int>(0, 3)(random);
      if (target == 0) {
        kill_children(run.pid(), "ringside-analyzer");  // another one takes over
        continue;
      }
      const bool hit = target != 1 && kill_children(run.pid(), "ringside-producer");
      if (target == 2) kill_children(run.pid(), "ringside-analyzer");
      // Without a producer to kill (not started yet) the run goes on, with another analyzer; without one to kill it may
      // be over.
      if (target == 2 && !hit && run.running()) continue;
      if (target != 2 && run.running()) {
        run.kill();
        ++tally.kills["run"];
      }
      at_rest = true;
    }
    expect_to_end(run, "run", tally);
    const std::optional<int> ended = run.wait();
    done = ended == 0;
    const bool was_killed = ended == 128 + SIGKILL || ended == static_cast<int>(ExitCode::kPeerLost);
    if (ended && !done && !was_killed) {
      tally.violations.push_back(fmt::format("a run that was to go on ended with exit code {}, see {}", *ended, log));
      return;
    }
    if (!wait_for_orphans()) {
      ++tally.hangs;
      tally.violations.push_back("a process was left behind by `ringside run`");
    }
    acknowledged = std::max(acknowledged, watcher.stop());
    check_at_rest(pool, acknowledged, is_iterate, tally);
  }
  ++tally.finished_runs;
  if (RingReader::open(pool).recover().newest_iteration() != kRunIterations) {
    tally.violations.push_back("a run that was done did not keep its last iterate");
  }
}

}  // namespace ringside::testing
