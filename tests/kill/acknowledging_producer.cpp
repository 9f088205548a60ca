// SPDX-License-Identifier: BSD-3-Clause
// A producer that records in a file which iterations are committed; the kill loop later requires that the pool still
// has these iterations. The producer continues from the iterate that the pool holds. The producer learns of commits
// only from the rule of the hand-off: the buffer of step s is lent again only after step s is committed.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ringside.hpp>

#include "tests/kill/sequence.hpp"

namespace {

namespace testing = ringside::testing;

constexpr std::uint32_t kBuffers = 2;

/// Overwrites the only word of the file: the newest iteration that is certainly committed. When the call has returned,
/// all 8 bytes are in the page cache, and remain there whichever process is killed afterwards.
void acknowledge(int file, std::uint64_t iteration) {
  if (pwrite(file, &iteration, sizeof iteration, 0) == sizeof iteration) return;
  std::perror("acknowledging_producer: the acknowledgement could not be written");
  std::exit(RINGSIDE_SYSTEM);
}

void produce(const ringside::WriterOptions& options, int acknowledgements, std::uint64_t rows,
             std::uint64_t iterations) {
  ringside::Writer run(options, {ringside::field<double>("x", {rows})});
  const std::uint64_t first = run.next_iteration();
  std::vector<double> x(rows);
  for (std::uint64_t row = 0; row < rows; ++row) x[row] = testing::first_value(row);
  std::ranges::copy(run.kept<double>(0), x.begin());
  const double* before = x.data();
  for (std::uint64_t k = first; k <= iterations && run.claim(); ++k) {
    // This buffer contained step s - B, which must therefore be committed; the step's iteration is k - B.
    if (k >= first + kBuffers) acknowledge(acknowledgements, k - kBuffers);
    const auto buffer = run.buffer<double>(0);
    for (std::uint64_t row = 0; row < rows; ++row) buffer[row] = testing::next_value(before[row]);
    run.publish(k);
    before = buffer.data();
  }
  run.detach();
  acknowledge(acknowledgements, iterations);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s SOCKET ACKNOWLEDGEMENTS ROWS ITERATIONS PEER_TIMEOUT_S locks|messages\n", argv[0]);
    return RINGSIDE_USAGE;
  }
  const int acknowledgements = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string coordination = argv[6];
  try {
    produce({.solver = "sequence",
             .socket = argv[1],
             .buffers = kBuffers,
             .peer_timeout_s = std::stod(argv[5]),
             .pool_use = RINGSIDE_POOL_RESUME,
             .coordination = coordination == "messages" ? RINGSIDE_COORDINATION_MESSAGES : RINGSIDE_COORDINATION_LOCKS,
             .shares_core = true},  // there are more processes here than cores
            acknowledgements, std::stoull(argv[3]), std::stoull(argv[4]));
    return 0;
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "acknowledging_producer: %s\n", error.what());
    return error.status();
  }
}
