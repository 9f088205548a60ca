// SPDX-License-Identifier: BSD-3-Clause
// A producer that records, in a file that outlives it, which iterations are committed; the kill loop later demands
// these. It continues from the iterate that the pool holds. It infers commits from the hand-off's rule alone: the
// buffer of step s is lent again only once step s is committed.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/handoff/handoff_writer.hpp"
#include "common/messages/message_coordination.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "tests/kill/sequence.hpp"

namespace ringside {
namespace {

/// One word, overwritten in place: the newest iteration that is known to be committed. Once the call returns, all 8
/// bytes are in the page cache, whichever process is killed afterwards.
class Acknowledgements {
 public:
  explicit Acknowledgements(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (!file_.valid()) throw system_error("{}: {}", path, errno_text(errno));
  }
  void write(std::uint64_t iteration) {
    if (pwrite(file_.get(), &iteration, sizeof iteration, 0) != sizeof iteration) {
      throw system_error("the acknowledgement could not be written: {}", errno_text(errno));
    }
  }

 private:
  UniqueFd file_;
};

RunDescription describe(std::uint64_t rows) {
  RunDescription run;
  run.run_id = random_id();
  run.problem_id = {0x6b696c6c, rows};
  run.entries = rows;
  run.started_realtime_ns = realtime_ns();
  assign(run.solver, "sequence");
  assign(run.matrix, "none");
  return run;
}

void produce(const std::string& socket, const std::string& acknowledgements, std::uint64_t rows,
             std::uint64_t iterations, double peer_timeout_s, const std::string& coordination) {
  Acknowledgements committed(acknowledgements);
  HandoffOptions options;
  options.socket = socket;
  options.coordination = coordination == "messages" ? CoordinationKind::kMessages : CoordinationKind::kLocks;
  options.messages = make_messages;
  options.peer_timeout_s = peer_timeout_s;
  options.pool_use = PoolUse::kResume;
  options.spin_ns = 0;  // there are more processes here than cores
  HandoffWriter handoff(options, describe(rows), Schema::x_only(rows));

  std::vector<double> start(rows);
  std::uint64_t first = 1;
  if (const auto kept = handoff.take_kept()) {
    std::copy(kept->x(), kept->x() + rows, start.begin());
    first = kept->iteration + 1;
  } else {
    for (std::uint64_t row = 0; row < rows; ++row) start[row] = testing::first_value(row);
  }
  const double* before = start.data();
  for (std::uint64_t k = first; k <= iterations; ++k) {
    const Claim claim = handoff.claim();
    if (claim.status != ClaimStatus::kOk) throw handoff.failure(claim.status);
    // This buffer held step s - B, which is therefore committed; its iteration is k - B.
    if (handoff.published() >= options.buffers) committed.write(k - options.buffers);
    for (std::uint64_t row = 0; row < rows; ++row) claim.x()[row] = testing::next_value(before[row]);
    handoff.publish({.iteration = k});
    before = claim.x();
  }
  handoff.detach(Outcome::kFinished);
  committed.write(iterations);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s SOCKET ACKNOWLEDGEMENTS ROWS ITERATIONS PEER_TIMEOUT_S locks|messages\n", argv[0]);
    return static_cast<int>(ringside::ExitCode::kUsage);
  }
  try {
    ringside::produce(argv[1], argv[2], std::stoull(argv[3]), std::stoull(argv[4]), std::stod(argv[5]), argv[6]);
    return 0;
  } catch (const ringside::Error& error) {
    fmt::print(stderr, "acknowledging_producer: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
