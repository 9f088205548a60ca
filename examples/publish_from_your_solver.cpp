// SPDX-License-Identifier: BSD-3-Clause
// A minimal program that publishes its iterates; any solver that links ringside_handoff can. Run it:
//   ringside run --pool heat.pool -- publish_from_your_solver
//   ringside info heat.pool
// or start an analyzer yourself, and give its socket:
//   ringside-analyzer --socket /tmp/ringside/analyzer.socket --pool heat.pool --once &
//   publish_from_your_solver /tmp/ringside/analyzer.socket
// It takes [SOCKET] [--resume | --overwrite] [--peer-timeout SECONDS] [--iterations N]; `ringside run` passes on its
// own options instead. With --once the analyzer also ends if it refuses a run, as it does for a second one without
// --resume or --overwrite.
//
// The solver here is explicit heat conduction on a rod. The hand-off is the loop at the end.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/handoff/handoff_environment.hpp"
#include "common/handoff/handoff_writer.hpp"
#include "common/handoff/run_description.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"

namespace {

constexpr std::uint64_t kPoints = 100'000;
constexpr double kConductivity = 0.25;  // below 0.5: stable
constexpr double kHotEnd = 100.0;

/// The sum and the maximum of the changes that an iteration made.
struct Change {
  double l1 = 0;
  double linf = 0;
};

std::atomic<bool> stop{false};  // Ctrl-C: finish the step, and detach

/// x_k[i] = x_{k-1}[i] + c (x_{k-1}[i-1] - 2 x_{k-1}[i] + x_{k-1}[i+1]); the ends do not change.
Change heat_step(const double* before, double* after) {
  Change made;
  after[0] = before[0];
  after[kPoints - 1] = before[kPoints - 1];
  for (std::uint64_t i = 1; i + 1 < kPoints; ++i) {
    const double change = kConductivity * (before[i - 1] - 2 * before[i] + before[i + 1]);
    after[i] = before[i] + change;
    const double size = change < 0 ? -change : change;
    made.l1 += size;
    if (size > made.linf) made.linf = size;
  }
  return made;
}

ringside::RunDescription describe() {
  ringside::RunDescription run;
  run.run_id = ringside::random_id();
  // The problem's id: a hash of everything that decides the iterates, and of nothing else.
  const std::string parameters = fmt::format("conductivity={} hot_end={} points={}", kConductivity, kHotEnd, kPoints);
  const std::string problem = "heat " + parameters;
  run.problem_id = ringside::hash128(problem.data(), problem.size());
  run.started_realtime_ns = ringside::realtime_ns();
  ringside::assign(run.solver, "heat");
  ringside::assign(run.matrix, "rod of 100,000 points");
  ringside::assign(run.parameters, parameters);
  return run;
}

struct Options {
  // Below `ringside run` the environment has the socket, and what the run was started with.
  ringside::HandoffOptions handoff = ringside::handoff_options_of_environment();
  std::uint64_t iterations = 200;
};

template <class Number>
bool read_number(const char* text, Number& number) {
  const char* end = text + std::strlen(text);
  const auto [read_to, error] = std::from_chars(text, end, number);
  return error == std::errc() && read_to == end && number > 0;
}

Options parse(int argc, char** argv) {
  Options options;
  bool known = true;
  for (int i = 1; i < argc && known; ++i) {
    const std::string_view word = argv[i];
    if (word == "--resume") {
      options.handoff.pool_use = ringside::PoolUse::kResume;
    } else if (word == "--overwrite") {
      options.handoff.pool_use = ringside::PoolUse::kOverwrite;
    } else if (word == "--peer-timeout" && i + 1 < argc) {
      known = read_number(argv[++i], options.handoff.peer_timeout_s);
    } else if (word == "--iterations" && i + 1 < argc) {
      known = read_number(argv[++i], options.iterations);
    } else if (i == 1 && !word.starts_with("-")) {
      options.handoff.socket = word;
    } else {
      known = false;
    }
  }
  if (!known) {
    throw ringside::usage_error("usage: {} [SOCKET] [--resume | --overwrite] [--peer-timeout SECONDS] [--iterations N]",
                                argv[0]);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options = parse(argc, argv);
    options.handoff.stop = &stop;
    std::signal(SIGINT, [](int) { stop = true; });
    // A step is one vector of doubles and two scalars. A solver that needs more to continue declares more variables.
    const std::vector<ringside::Variable> variables = {{.name = "temperature", .shape = {kPoints}, .unit = "K"}};
    const std::vector<ringside::Scalar> scalars = {{.name = "residual_l1"}, {.name = "residual_linf"}};
    ringside::HandoffWriter handoff(options.handoff, describe(), ringside::Schema::of(variables), scalars);

    // The start: the rod's initial state, or the newest iterate that was kept.
    std::vector<double> start(kPoints, 0.0);
    start[0] = kHotEnd;
    std::uint64_t first = 1;
    if (const auto kept = handoff.take_kept()) {
      std::copy(kept->x(), kept->x() + kPoints, start.begin());
      first = kept->iteration + 1;
      std::printf("continuing at iteration %llu\n", static_cast<unsigned long long>(first));
    }
    const double* before = start.data();
    for (std::uint64_t k = first; k <= options.iterations && !stop; ++k) {
      const ringside::Claim claim = handoff.claim();  // where x_k goes; waits while the analyzer still copies
      if (claim.status == ringside::ClaimStatus::kStopped) break;
      if (!claim) throw handoff.failure(claim.status);  // the analyzer is lost or failed: there is no buffer
      const std::int64_t begin = ringside::now_ns();
      const Change change = heat_step(before, claim.x());
      const std::int64_t generate_ns = ringside::now_ns() - begin;
      const ringside::ScalarValue values[] = {change.l1, change.linf};
      handoff.publish({.iteration = k, .generate_ns = generate_ns}, values);
      before = claim.x();  // x_{k-1} of the next iteration: its bytes do not change
    }
    // Returns when every iterate is committed.
    handoff.detach(stop ? ringside::Outcome::kInterrupted : ringside::Outcome::kFinished);
    std::printf("%llu iterates published, producer idle %.3f ms\n",
                static_cast<unsigned long long>(handoff.published()), static_cast<double>(handoff.idle_ns()) * 1e-6);
    return 0;
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {  // no memory
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(ringside::ExitCode::kSystem);
  }
}
