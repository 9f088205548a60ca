// SPDX-License-Identifier: BSD-3-Clause
// How much time do verifiable iterates in the ring, and the order of their stores, take? The program compares commits
// that hash every chunk and use the three fences of the commit protocol with the same commits without hashes and
// fences. The memory is similar to DAX: a pool on tmpfs that is treated as persistent memory, so that lines are flushed
// and fences wait as on persistent memory. (DRAM accepts stores faster than persistent memory, on which the same work
// would be a smaller share.)
//
// All commits use one RingWriter, round by round, and in random order within a round. So neither changes of the
// machine's speed nor the places of the slots give one of these variants an advantage:
//   without        non-temporal copy; nothing is hashed, flushed or waited for
//   with           as the analyzer commits
//   hashes, fences as `with`, but with only hashes or only fences
//   hashed_first   as `with`, but each chunk is hashed before it is copied, not in the same pass
// Bytes that must move in each variant: 8n read, 8n written with non-temporal stores.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "bench/programs/bench_program.hpp"
#include "common/kernels/copy.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/reductions/reduction_catalogue.hpp"

namespace ringside::bench {
namespace {

constexpr std::size_t kIterates = 4;  // used in turn, so that the data come from memory, not from a cache
constexpr int kWarmUps = 5;

enum class Hashing { kNone, kInOnePass, kFirst };

struct Mode {
  const char* name;
  Hashing hashing;
  bool fences;
};
constexpr std::array<Mode, 5> kModes = {{{"without", Hashing::kNone, false},
                                         {"with", Hashing::kInOnePass, true},
                                         {"hashes", Hashing::kInOnePass, false},
                                         {"fences", Hashing::kNone, true},
                                         {"hashed_first", Hashing::kFirst, true}}};
constexpr std::size_t kWithout = 0;

/// The pool's own persistence, with parts of it left out.
class PartialPersistence final : public Persistence {
 public:
  explicit PartialPersistence(Persistence& whole) : whole_(whole) {}
  void use(const Mode& mode) { mode_ = mode; }

  void store64(std::uint64_t* to, std::uint64_t value) noexcept override { whole_.store64(to, value); }
  void store_words(void* to, const void* from, std::size_t bytes) noexcept override {
    whole_.store_words(to, from, bytes);
  }
  std::uint64_t copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept override {
    if (mode_.hashing == Hashing::kInOnePass) return whole_.copy_nontemporal(to, from, bytes);
    const std::uint64_t hash = mode_.hashing == Hashing::kFirst ? hash64(from, bytes) : 0;
    ringside::copy_nontemporal(to, from, bytes);
    return hash;
  }
  void flush(const void* address, std::size_t bytes) noexcept override {
    if (mode_.fences) whole_.flush(address, bytes);
  }
  void drain() noexcept override {
    if (mode_.fences) whole_.drain();
  }
  int sync() noexcept override { return whole_.sync(); }
  bool syncs_at_once() const noexcept override { return whole_.syncs_at_once(); }

 private:
  Persistence& whole_;
  Mode mode_ = kModes[kWithout];
};

/// A pool file that this object makes and removes.
class TemporaryPool {
 public:
  TemporaryPool(const std::string& folder, std::uint64_t rows, std::uint32_t slots)
      : path_(std::filesystem::path(folder) / ("protocol_cost." + std::to_string(getpid()) + ".pool")),
        pool_(RingPool::create(path_, RingShape::x_only(rows), slots)) {
    pool_.prefault();
  }
  ~TemporaryPool() { std::filesystem::remove(path_); }
  TemporaryPool(const TemporaryPool&) = delete;
  TemporaryPool& operator=(const TemporaryPool&) = delete;
  const RingPool& operator*() const { return pool_; }
  const RingPool* operator->() const { return &pool_; }

 private:
  std::filesystem::path path_;
  RingPool pool_;
};

using Values = std::unique_ptr<double, std::function<void(double*)>>;

/// An iterate on separate pages, huge ones if available, like the buffers of the hand-off.
Values make_iterate(std::size_t rows, std::size_t k) {
  const std::size_t bytes = rows * sizeof(double);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw system_error("cannot allocate {} bytes; try fewer --rows", bytes);
  madvise(pages, bytes, MADV_HUGEPAGE);
  auto* x = static_cast<double*>(pages);
  for (std::size_t row = 0; row < rows; ++row) x[row] = 1.0 / static_cast<double>(row + k + 1);
  return {x, [bytes](double* p) { munmap(p, bytes); }};
}

struct Commit {
  double ms = 0;         // begin, copy and commit
  double begin_ms = 0;   // only fence 1
  double commit_ms = 0;  // the hash of the table, the header and fence 3
};

Commit commit_one(RingWriter& writer, const double* x, std::uint64_t k) {
  Commit commit;
  StepDescriptor step;
  step.step = step.iteration = k;
  const std::int64_t begin_ns = now_ns();
  bool fine = writer.begin() == CommitStatus::kOk;
  commit.begin_ms = milliseconds_since(begin_ns);
  writer.copy(x, {.descriptor = step});
  const std::int64_t copied_ns = now_ns();
  fine = writer.commit() == CommitStatus::kOk && fine;
  commit.commit_ms = milliseconds_since(copied_ns);
  commit.ms = milliseconds_since(begin_ns);
  if (!fine) throw system_error("the benchmark cannot commit to its ring");
  return commit;
}

Json measure(RingWriter& writer, PartialPersistence& persistence, const std::vector<Values>& iterates, int threads,
             int rounds) {
  pin_threads(threads);
  std::array<std::vector<double>, kModes.size()> total_ms;
  std::array<std::vector<double>, kModes.size()> begin_us;
  std::array<std::vector<double>, kModes.size()> commit_us;
  std::array<std::vector<double>, kModes.size()> cost;
  std::mt19937 lot(1);
  std::array<std::size_t, kModes.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::uint64_t k = 0;
  for (int round = -kWarmUps; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), lot);
    std::array<Commit, kModes.size()> commits;
    for (const std::size_t mode : order) {
      persistence.use(kModes[mode]);
      ++k;
      commits[mode] = commit_one(writer, iterates[k % kIterates].get(), k);
    }
    if (round < 0) continue;
    for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
      total_ms[mode].push_back(commits[mode].ms);
      begin_us[mode].push_back(commits[mode].begin_ms * 1e3);
      commit_us[mode].push_back(commits[mode].commit_ms * 1e3);
      cost[mode].push_back(commits[mode].ms / commits[kWithout].ms - 1);
    }
  }

  Json result = {{"threads", threads}};
  for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
    Json& of_mode = result[kModes[mode].name];
    of_mode = {{"total", spread(total_ms[mode], "ms")},
               {"begin", spread(begin_us[mode], "us")},
               {"commit", spread(commit_us[mode], "us")}};
    if (mode != kWithout) of_mode["cost"] = spread(cost[mode], "ratio");
  }
  return result;
}

/// Every variant includes the hash of the table of chunk hashes, because the writer always makes this hash. Therefore
/// this hash is also timed separately.
Json measure_table_hash(const RingView& ring, int rounds) {
  volatile std::uint64_t sink = 0;
  std::vector<double> us;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t begin_ns = now_ns();
    sink = sink ^ hash64(ring.chunk_hashes(0).data(), ring.chunk_hashes(0).size_bytes());
    us.push_back(milliseconds_since(begin_ns) * 1e3);
  }
  return spread(us, "us");
}

void measure_all(std::uint64_t rows, std::uint32_t slots, const std::vector<int>& threads, int rounds,
                 const std::string& folder, Json& report) {
  // These variables must be set before libpmem reads them. docs/formats/ring_format.md explains them, and why only
  // tests and this program set them.
  setenv("PMEM_IS_PMEM_FORCE", "1", 1);
  setenv("RINGSIDE_ALLOW_FORCED_PMEM", "1", 1);
  report.update({{"rows", rows}, {"slots", slots}, {"folder", folder}});
  const TemporaryPool pool(folder, rows, slots);
  PartialPersistence persistence(pool->persistence());
  RingWriter writer(pool->ring(), persistence, pool->storage(), Durability::kPower);
  RunDescription run;
  run.run_id = random_id();
  run.entries = rows;
  run.schema_id = pool->ring().geometry().schema().id();
  writer.begin_run(run, x_only_catalogue(rows));

  std::vector<Values> iterates;
  for (std::size_t i = 0; i < kIterates; ++i) iterates.push_back(make_iterate(rows, i));
  for (const int count : threads) {
    report["results"].push_back(measure(writer, persistence, iterates, count, rounds));
  }
  report["table_hash"] = measure_table_hash(pool->ring(), rounds);
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("protocol_cost",
                       "Measures what the hashes and the fences of a commit cost on DAX-like memory: makes commits "
                       "with and without them. Prints JSON.");
  std::uint64_t rows = 4'000'000;
  std::uint32_t slots = 8;
  std::vector<int> threads = {1, 2};
  int rounds = 201;
  std::string folder = "/dev/shm";
  program.line.option("--rows", rows, "Doubles in one iterate").check(whole_number_within(1000, 1 << 30));
  program.line.option("--slots", slots, "Slots of the ring").check(whole_number_within(3, 1024));
  program.line.option("--threads", threads, "Measure with these numbers of threads")
      .comma_separated()
      .check(whole_number_within(1, 1024));
  program.line.option("--rounds", rounds, "Measured rounds, each with one commit of every kind")
      .check(whole_number_within(5, 100'000));
  program.line.option("--folder", folder,
                      "Folder in which the pool is made: a tmpfs, preferably mounted with huge=always");
  return program.run(argc, argv, [&](Json& report) { measure_all(rows, slots, threads, rounds, folder, report); });
}
