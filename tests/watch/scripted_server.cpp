// SPDX-License-Identifier: BSD-3-Clause
// Shows what `ringside serve` would show for a simulated run. Lines on standard input control it, so that a browser or
// Prometheus finds every state at a known moment. After each line, it prints the resulting status:
//   start NAME | describe | steps N | step RESULT VALUE | analysis ITERATION NAME VALUE | mark CAUSE NAME TEXT... |
//   plug_in NAME DEATHS | end OUTCOME CODE | status JOURNAL | ring FROZEN|- GUARDED HELD_SLOT [SLOTS] | slots N |
//   renumber | down | up | another | quit
// renumber: an analyzer without the journal numbers the run's records from 1 again. ring: the pool itself is read.
// describe: the run has the results of a variable u[3,4] in K, and a scalar rho, by name.
// The first line that it prints is its address. An argument names the file with the token that requests need.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "cli/http/http_server.hpp"
#include "cli/http/run_site.hpp"
#include "cli/run_history/watched_run.hpp"
#include "tests/watch/made_run.hpp"

namespace {

using ringside::RingSlots;
using ringside::SlotState;
using ringside::SlotUse;
using ringside::testing::MadeRun;

/// The states of the MadeRun::kSlots slots after this number of steps. held: the slot that a reader holds.
RingSlots made_slots(std::uint64_t steps, std::uint32_t held) {
  RingSlots slots;
  slots.count = slots.used = MadeRun::kSlots;
  for (std::uint64_t i = steps - MadeRun::kSlots; i < steps; ++i) {
    const auto slot = static_cast<std::uint32_t>(i % MadeRun::kSlots);
    slots.slots.push_back({.slot = slot,
                           .state = SlotState::kCommitted,
                           .commit_seq = i + 1,
                           .iteration = i + 1,
                           .use = slot == held ? SlotUse::kHeld : SlotUse::kFree});
  }
  return slots;
}

template <class T>
T next(std::istringstream& words) {
  T word{};
  words >> word;
  return word;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ringside;
  std::optional<AccessToken> token;
  if (argc > 1) token = AccessToken::read(argv[1]);
  WatchedRun watched;
  HttpServer server(std::make_shared<RunSite>(watched), {"127.0.0.1", 0}, std::move(token));
  server.start();
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  testing::MadeRun run;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    const auto command = next<std::string>(words);
    if (command == "start") {
      run = testing::MadeRun(next<std::string>(words), run.next_seq());
      watched.take(std::vector{run.started()});
    } else if (command == "describe") {
      run.describe(Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {3, 4}, .unit = "K"}}), {{.name = "rho"}});
      watched.take(std::vector{run.started()});
    } else if (command == "step") {
      const auto name = next<std::string>(words);
      watched.take(std::vector{run.step_with(name, std::stod(next<std::string>(words)))});
    } else if (command == "analysis") {
      const auto iteration = next<std::uint64_t>(words);
      const auto name = next<std::string>(words);
      watched.take(std::vector{run.analysis(iteration, name, std::stod(next<std::string>(words)))});
    } else if (command == "mark") {
      const auto cause = next<std::string>(words);
      const auto name = next<std::string>(words);
      std::string text;
      std::getline(words >> std::ws, text);
      watched.take(std::vector{run.mark(cause, name, text, {"freeze", "stop"})});
    } else if (command == "plug_in") {
      wire::Record started = run.started();
      wire::PlugIn& plug_in = *started.mutable_run_started()->add_plug_ins();
      plug_in.set_name(next<std::string>(words));
      plug_in.set_deaths(next<std::uint32_t>(words));
      plug_in.set_left_out(plug_in.deaths() > 1);
      watched.take(std::vector{started});
    } else if (command == "ring") {
      wire::Status status;
      if (const auto frozen = next<std::string>(words); frozen != "-") {
        status.set_frozen_at_iteration(std::stoull(frozen));
      }
      status.set_guarded_commit_seq(next<std::uint64_t>(words));
      watched.take(status);
      RingSlots made = made_slots(run.steps_made(), next<std::uint32_t>(words));
      if (std::uint32_t slots = 0; words >> slots) made.count = slots;
      watched.take(std::optional(std::move(made)));
    } else if (command == "slots") {
      wire::Record started = run.started();
      started.mutable_run_started()->set_slots(next<std::uint32_t>(words));
      watched.take(std::vector{started});
    } else if (command == "renumber") {
      run = testing::MadeRun();
      watched.take(std::vector{run.started()});
    } else if (command == "steps") {
      watched.take(run.steps(next<std::uint64_t>(words)));
    } else if (command == "end") {
      const auto outcome = next<std::string>(words);
      watched.take(std::vector{run.ended(outcome, next<std::uint32_t>(words))});
    } else if (command == "status") {
      wire::Status status;
      status.set_pool("made-up.pool");
      status.set_journal(next<std::string>(words));
      watched.take(status);
    } else if (command == "another") {
      watched.another_analyzer_came();
    } else if (command == "up" || command == "down") {
      watched.analyzer_is(command == "up");
    } else {
      break;
    }
    fmt::print("{}\n", watched.status_json());
    std::fflush(stdout);
  }
  return 0;
}
