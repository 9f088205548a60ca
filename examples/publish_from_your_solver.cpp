// SPDX-License-Identifier: BSD-3-Clause
// A program that publishes its iterates, in C++: it links libringside (Ringside::ringside) and nothing else. Run it:
//   ringside run --pool heat.pool -- publish_from_your_solver
//   ringside info heat.pool
// or start an analyzer yourself, and give its socket:
//   ringside-analyzer --socket /tmp/ringside/analyzer.socket --pool heat.pool --once &
//   publish_from_your_solver /tmp/ringside/analyzer.socket
// The program's arguments are [SOCKET] [--resume | --overwrite] [--peer-timeout SECONDS] [--iterations N]; `ringside
// run` passes on its own options instead. With --once, the analyzer also ends if it refuses a run: for example a second
// run without --resume or --overwrite.
//
// The solver here is explicit heat conduction on a rod. The loop at the end publishes.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "ringside.hpp"

namespace {

constexpr std::uint64_t kPoints = 100'000;
constexpr double kConductivity = 0.25;  // stable if below 0.5
constexpr double kHotEnd = 100.0;

/// The sum and the maximum of the changes that an iteration made.
struct Change {
  double l1 = 0;
  double linf = 0;
};

volatile int stop = 0;  // set by Ctrl-C: finish the step, and detach

/// x_k[i] = x_{k-1}[i] + c (x_{k-1}[i-1] - 2 x_{k-1}[i] + x_{k-1}[i+1]); the ends do not change.
Change heat_step(std::span<const double> before, std::span<double> after) {
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

struct Options {
  // Options that are not set here are taken from the environment that `ringside run` sets.
  ringside::WriterOptions run = {.solver = "heat", .problem = "rod of 100,000 points"};
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
      options.run.pool_use = RINGSIDE_POOL_RESUME;
    } else if (word == "--overwrite") {
      options.run.pool_use = RINGSIDE_POOL_OVERWRITE;
    } else if (word == "--peer-timeout" && i + 1 < argc) {
      known = read_number(argv[++i], options.run.peer_timeout_s);
    } else if (word == "--iterations" && i + 1 < argc) {
      known = read_number(argv[++i], options.iterations);
    } else if (i == 1 && !word.starts_with("-")) {
      options.run.socket = word;
    } else {
      known = false;
    }
  }
  if (!known) {
    const std::string usage = std::string("usage: ") + argv[0] +
                              " [SOCKET] [--resume | --overwrite] [--peer-timeout SECONDS] [--iterations N]";
    throw ringside::Error(RINGSIDE_USAGE, usage.c_str());
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options = parse(argc, argv);
    options.run.stop = &stop;
    // All parameters on which the iterates depend: a run with other parameters solves another problem, and cannot
    // resume this one.
    options.run.parameters = "conductivity=0.25 hot_end=100";
    std::signal(SIGINT, [](int) { stop = 1; });
    // A step consists of one vector of doubles and two scalars. A solver that needs more data to continue declares more
    // variables.
    ringside::Writer run(options.run, {ringside::field<double>("temperature", {kPoints}, "K")},
                         {{.name = "residual_l1"}, {.name = "residual_linf"}});

    // The start: the rod's initial state, or the newest iterate that was kept.
    std::vector<double> start(kPoints, 0.0);
    start[0] = kHotEnd;
    const std::uint64_t first = run.next_iteration();
    if (first > 1) {
      std::ranges::copy(run.kept<double>(0), start.begin());
      std::printf("continuing at iteration %llu\n", static_cast<unsigned long long>(first));
    }
    std::span<const double> before = start;
    for (std::uint64_t k = first; k <= options.iterations && !stop; ++k) {
      if (!run.claim()) break;  // waits while the analyzer copies from this buffer; false: Ctrl-C during the wait
      const std::span<double> after = run.buffer<double>(0);  // the place of x_k
      const Change change = heat_step(before, after);
      run.publish(k, {ringside::value(change.l1), ringside::value(change.linf)});
      before = after;  // x_{k-1} of the next iteration, during which its bytes do not change
    }
    // Returns when every iterate is committed.
    run.detach(stop ? RINGSIDE_OUTCOME_STOPPED : RINGSIDE_OUTCOME_FINISHED);
    const ringside_counts counts = run.counts();
    std::printf("%llu iterates published, producer idle %.3f ms\n", static_cast<unsigned long long>(counts.published),
                static_cast<double>(counts.idle_ns) * 1e-6);
    return 0;
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {  // for instance lack of memory
    std::fprintf(stderr, "%s\n", error.what());
    return RINGSIDE_SYSTEM;
  }
}
