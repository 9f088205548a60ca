// SPDX-License-Identifier: BSD-3-Clause
// Shows what `ringside serve` would show of a made-up run. Lines on standard input drive it, so that a browser or
// Prometheus meets every state at a known moment. After each line it prints the status that results:
//   start NAME | steps N | end OUTCOME CODE | status JOURNAL | down | up | another | quit
// The first line it prints is the address it listens at. An argument names the file with the token that requests need.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "cli/history/watched_run.hpp"
#include "cli/http/http_server.hpp"
#include "tests/watch/made_run.hpp"

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
