// SPDX-License-Identifier: BSD-3-Clause
// An owner opens a whole pool file in which libpmemobj's own bytes (lanes, heap and header) were changed. The result
// must be one Error, or a ring with all its iterates. Bytes that would crash libpmemobj must never reach libpmemobj,
// because it runs in this process.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/pool/ring_pool.hpp"
#include "tests/fuzz/fuzzing.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace {

using namespace ringside;

constexpr std::uint64_t kRows = 1000;
const Iterations kKept = {2, 3, 4};

std::string bytes_of_a_pool() {
  const ringside::testing::TemporaryFolder folder;
  const std::string path = folder.file("x.pool");
  {
    const RingPool pool = RingPool::create(path, RingShape::x_only(kRows), kMinSlots);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kProcess);
    begin_x_only(writer, run_of(kRows));
    for (std::uint64_t k = 1; k <= kKept.back(); ++k) commit_iterate(writer, k, kRows);
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The pool as a file in memory that nevertheless has a path. mend() restores the bytes before the ring; only these
// bytes change.
class Pool {
 public:
  Pool() : good_(bytes_of_a_pool()), fd_(memfd_create("pool", MFD_CLOEXEC)) {
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(good_.size())) != 0) std::abort();
    void* mapped = mmap(nullptr, good_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (mapped == MAP_FAILED) std::abort();
    base_ = static_cast<char*>(mapped);
    std::memcpy(base_, good_.data(), good_.size());
    ring_begin_ =
        RingView::parse({reinterpret_cast<std::byte*>(base_), good_.size()}, "x").geometry().superblock_offset[0];
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  std::uint64_t ring_begin() const { return ring_begin_; }
  void mend() const { std::memcpy(base_, good_.data(), ring_begin_); }
  void set_word(std::uint64_t offset, std::uint64_t value) const { std::memcpy(base_ + offset, &value, sizeof(value)); }

 private:
  std::string good_;
  int fd_;
  char* base_ = nullptr;
  std::uint64_t ring_begin_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const Pool pool;
  FuzzedDataProvider choice(data, bytes);
  pool.mend();
  while (choice.remaining_bytes() > 0) {
    // The first two pages contain the words that no hash covers, so most of the changes are made there.
    const std::uint64_t end = choice.ConsumeIntegralInRange<int>(0, 3) == 0 ? pool.ring_begin() : 2 * kPageBytes;
    pool.set_word(choice.ConsumeIntegralInRange<std::uint64_t>(0, end - 8), choice.ConsumeIntegral<std::uint64_t>());
  }
  fuzzing::run([] {
    const RingPool owner = RingPool::open(pool.path());
    fuzzing::demand(kept_iterations(owner.ring()) == kKept, "what can be opened has every iterate");
  });
  return 0;
}
