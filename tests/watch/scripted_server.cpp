// SPDX-License-Identifier: BSD-3-Clause
// Shows what `ringside serve` would show of a made-up run. Lines on standard input drive it, so that a browser or
// Prometheus meets every state at a known moment. After each line it prints the status that results:
//   start NAME | describe | steps N | step RESULT VALUE | analysis ITERATION NAME VALUE | mark CAUSE NAME TEXT... |
//   plug_in NAME DEATHS | end OUTCOME CODE | status JOURNAL | ring FROZEN|- GUARDED HELD_SLOT [SLOTS] | slots N |
//   renumber | down | up | another | quit
// renumber: an analyzer without the journal numbers the run's records from 1 again. ring: the pool itself is read.
// describe: the run has the results of a variable u[3,4] in K, and a scalar rho, by name.
// The first line it prints is the address it listens at. An argument names the file with the token that requests need.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "cli/http/http_server.hpp"
#include "cli/run_history/watched_run.hpp"
#include "tests/watch/made_run.hpp"

namespace {

using ringside::RingSlots;
using ringside::SlotState;
using ringside::SlotUse;
using ringside::testing::MadeRun;

/// The slots of MadeRun::kSlots after so many steps. held: the slot that a reader holds.
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

}  // namespace

int main(int argc, char** argv) {
  using namespace ringside;
  std::optional<AccessToken> token;
  if (argc > 1) token = AccessToken::read(argv[1]);
  WatchedRun watched;
  HttpServer server(watched, {"127.0.0.1", 0}, std::move(token));
  server.start();
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  testing::MadeRun run;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "start") {
      std::string name;
      words >> name;
      run = testing::MadeRun(name, run.next_seq());
      watched.take(std::vector{run.started()});
    } else if (command == "describe") {
      run.describe(Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {3, 4}, .unit = "K"}}), {{.name = "rho"}});
      watched.take(std::vector{run.started()});
    } else if (command == "step") {
      std::string name;
      std::string value;
      words >> name >> value;
      watched.take(std::vector{run.step_with(name, std::stod(value))});
    } else if (command == "analysis") {
      std::uint64_t iteration = 0;
      std::string name;
      std::string value;
      words >> iteration >> name >> value;
      watched.take(std::vector{run.analysis(iteration, name, std::stod(value))});
    } else if (command == "mark") {
      std::string cause;
      std::string name;
      std::string text;
      words >> cause >> name;
      std::getline(words >> std::ws, text);
      watched.take(std::vector{run.mark(cause, name, text, {"freeze", "stop"})});
    } else if (command == "plug_in") {
      wire::Record started = run.started();
      wire::PlugIn& plug_in = *started.mutable_run_started()->add_plug_ins();
      std::uint32_t deaths = 0;
      words >> *plug_in.mutable_name() >> deaths;
      plug_in.set_deaths(deaths);
      plug_in.set_left_out(deaths > 1);
      watched.take(std::vector{started});
    } else if (command == "ring") {
      std::string frozen;
      std::uint64_t guarded = 0;
      std::uint32_t held = 0;
      std::uint32_t slots = MadeRun::kSlots;
      words >> frozen >> guarded >> held >> slots;
      wire::Status status;
      if (frozen != "-") status.set_frozen_at_iteration(std::stoull(frozen));
      status.set_guarded_commit_seq(guarded);
      watched.take(status);
      RingSlots made = made_slots(run.steps_made(), held);
      made.count = slots;
      watched.take(std::optional(std::move(made)));
    } else if (command == "slots") {
      wire::Record started = run.started();
      std::uint32_t slots = 0;
      words >> slots;
      started.mutable_run_started()->set_slots(slots);
      watched.take(std::vector{started});
    } else if (command == "renumber") {
      run = testing::MadeRun();
      watched.take(std::vector{run.started()});
    } else if (command == "steps") {
      std::uint64_t count = 0;
      words >> count;
      watched.take(run.steps(count));
    } else if (command == "end") {
      std::string outcome;
      std::uint32_t code = 0;
      words >> outcome >> code;
      watched.take(std::vector{run.ended(outcome, code)});
    } else if (command == "status") {
      wire::Status status;
      std::string journal;
      words >> journal;
      status.set_pool("made-up.pool");
      status.set_journal(journal);
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
