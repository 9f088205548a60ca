// SPDX-License-Identifier: BSD-3-Clause
// How long do the owner and the readers of a ring take to recover a pool if they check only headers? And, measured
// separately: how much time does a run need to verify the newest payload before it continues?
//   owner       RingPool::open (libpmemobj's bytes are hashed, then libpmemobj opens the pool) and a RingWriter, which
//               reads the headers
//   begin_run   writing the description, and verifying one payload
//   reader      RingReader::open, and reading the headers
// Warm: the file is in the page cache. Cold: the file was dropped from the page cache before, so that its bytes come
// from the disk.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "bench/programs/bench_program.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/reductions/reduction_catalogue.hpp"

namespace ringside::bench {
namespace {

void demand(bool holds, const char* what) {
  if (!holds) throw damage_error("the benchmark's pool failed: {}", what);
}

/// A full ring in a file that this object makes and removes.
class FullRing {
 public:
  FullRing(const std::string& folder, std::uint64_t rows, std::uint32_t slots)
      : path_(std::filesystem::path(folder) / ("recovery." + std::to_string(getpid()) + ".pool")) {
    const RingPool pool = RingPool::create(path_, RingShape::x_only(rows), slots);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kPower);
    run_.run_id = random_id();
    run_.entries = rows;
    run_.schema_id = pool.ring().geometry().schema().id();
    writer.begin_run(run_, x_only_catalogue(rows));
    std::vector<double> x(rows);
    for (std::uint64_t k = 1; k <= slots; ++k) {
      for (std::uint64_t row = 0; row < rows; ++row) x[row] = 1.0 / static_cast<double>(row + k);
      StepDescriptor step;
      step.step = k - 1;
      step.iteration = k;
      const bool committed = writer.begin() == CommitStatus::kOk;
      writer.copy(x.data(), {.descriptor = step});
      demand(committed && writer.commit() == CommitStatus::kOk, "an iterate was not committed");
    }
    demand(writer.finish() == 0, "it was not synced");
  }
  ~FullRing() { std::filesystem::remove(path_); }
  FullRing(const FullRing&) = delete;
  FullRing& operator=(const FullRing&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const RunDescription& run() const { return run_; }

  /// Drops the file from the page cache. On tmpfs, this has no effect, because the page cache is the only copy.
  void drop() const {
    const UniqueFd fd(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    fdatasync(fd.get());
    posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  }

 private:
  std::filesystem::path path_;
  RunDescription run_;
};

struct Samples {
  std::vector<double> owner_ms;
  std::vector<double> begin_run_ms;
  std::vector<double> reader_ms;
};

void measure_once(const FullRing& ring, std::uint32_t slots, bool cold, Samples& samples) {
  if (cold) ring.drop();
  std::int64_t begin_ns = now_ns();
  {
    const RingReader reader = RingReader::open(ring.path());
    const std::size_t kept = reader.recover().kept.size();
    samples.reader_ms.push_back(milliseconds_since(begin_ns));
    demand(kept == slots, "its reader does not have every iterate");
  }
  if (cold) ring.drop();
  begin_ns = now_ns();
  const RingPool pool = RingPool::open(ring.path());
  RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kPower);
  samples.owner_ms.push_back(milliseconds_since(begin_ns));
  demand(writer.committed() == slots, "its owner does not have every iterate");

  begin_ns = now_ns();
  writer.begin_run(ring.run(), x_only_catalogue(ring.run().entries));
  samples.begin_run_ms.push_back(milliseconds_since(begin_ns));
  demand(writer.finish() == 0, "it was not synced");
}

Json measure(const FullRing& ring, std::uint32_t slots, bool cold, int repeats) {
  Samples samples;
  measure_once(ring, slots, cold, samples);  // warms up the program itself
  samples = {};
  for (int repeat = 0; repeat < repeats; ++repeat) measure_once(ring, slots, cold, samples);
  return {{"owner", spread(samples.owner_ms, "ms")},
          {"reader", spread(samples.reader_ms, "ms")},
          {"begin_run", spread(samples.begin_run_ms, "ms")}};
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("recovery",
                       "Measures how long the owner and a reader of a pool take to open and recover it, without "
                       "reading iterates. Prints JSON.");
  std::uint64_t rows = 4'000'000;
  std::uint32_t slots = 8;
  int repeats = 31;
  std::string folder = ".";
  program.line.option("--rows", rows, "Doubles in one iterate").check(whole_number_within(1000, 1 << 30));
  program.line.option("--slots", slots, "Slots of the ring").check(whole_number_within(3, 1024));
  program.line.option("--repeats", repeats, "Measured repeats with a warm and with a cold page cache")
      .check(whole_number_within(5, 10'000));
  program.line.option("--folder", folder, "Folder in which the pool is made");
  return program.run(argc, argv, [&](Json& report) {
    const FullRing ring(folder, rows, slots);
    report.update({{"rows", rows},
                   {"slots", slots},
                   {"file_bytes", std::filesystem::file_size(ring.path())},
                   {"warm", measure(ring, slots, false, repeats)},
                   {"cold", measure(ring, slots, true, repeats)}});
  });
}
