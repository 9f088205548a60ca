// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/memory/oracle.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace ringside::testing {
namespace {

constexpr uint64_t kSharedWords = uint64_t{3} << 20;  // 24 MiB, of which each thread owns every n-th word

struct Block {
  uint64_t* far = nullptr;
  std::vector<uint64_t> plain;
};

class Worker {
 public:
  Worker(uint64_t* shared, int thread, const ringside_memory_options& options, const OracleRun& run,
         std::atomic<bool>& failed, OracleCounts& counts)
      : shared_(shared),
        thread_(static_cast<uint64_t>(thread)),
        options_(options),
        run_(run),
        failed_(failed),
        counts_(counts),
        random_(run.seed * 1000 + static_cast<uint64_t>(thread)),
        plain_(kSharedWords / static_cast<uint64_t>(run.threads)) {}

  void work() {
    for (uint64_t operation = 0; operation < run_.operations && !failed_.load(std::memory_order_relaxed); ++operation) {
      if (random_() % 64 == 0) look_up();
      const uint64_t kind = random_() % 1000;
      if (kind < 400) {
        touch_shared(random_() % plain_.size(), 1);
      } else if (kind < 500) {
        const uint64_t first = random_() % plain_.size();
        touch_shared(first, std::min<uint64_t>(plain_.size() - first, random_() % 4000));
      } else if (kind < 960) {
        touch_block(blocks_[random_() % blocks_.size()]);
      } else if (kind < 985) {
        change_block(blocks_[random_() % blocks_.size()]);
      } else {
        advise();
      }
    }
    for (Block& block : blocks_) {
      check_block(block, 0, block.plain.size());
      ringside_memory_free(block.far);
    }
    touch_shared(0, plain_.size());
    look_up();
  }
  std::string found;

 private:
  void fail(const std::string& what) {
    if (found.empty()) {
      found = "thread " + std::to_string(thread_) + ": " + what;
      const std::string line = found + "\n";
      if (run_.reports_at_once && write(2, line.data(), line.size()) < 0) _exit(9);
    }
    failed_.store(true);
  }

  void look_up() {
    counts_.accesses.fetch_add(accesses_, std::memory_order_relaxed);
    accesses_ = 0;
    if (run_.meanwhile) run_.meanwhile(random_());
  }

  uint64_t& shared(uint64_t index) { return shared_[index * static_cast<uint64_t>(run_.threads) + thread_]; }

  void touch_shared(uint64_t first, uint64_t count) {
    const bool store = random_() % 2 == 0;
    accesses_ += store ? 2 * count : count;
    for (uint64_t i = first; i < first + count; ++i) {
      if (shared(i) != plain_[i]) {
        return fail("shared word " + std::to_string(i) + " is " + std::to_string(shared(i)) + ", expected " +
                    std::to_string(plain_[i]));
      }
      if (store) shared(i) = plain_[i] = random_();
    }
  }

  void check_block(const Block& block, uint64_t first, uint64_t end) {
    accesses_ += end - first;
    for (uint64_t i = first; i < end; ++i) {
      if (block.far[i] != block.plain[i]) {
        return fail("word " + std::to_string(i) + " of a block of " + std::to_string(block.plain.size()) + " is " +
                    std::to_string(block.far[i]) + ", expected " + std::to_string(block.plain[i]));
      }
    }
  }

  void touch_block(Block& block) {
    if (block.plain.empty()) return;
    const uint64_t first = random_() % block.plain.size(),
                   end = std::min<uint64_t>(block.plain.size(), first + random_() % 3000);
    check_block(block, first, end);
    if (random_() % 2 == 0) {
      accesses_ += end - first;
      for (uint64_t i = first; i < end; ++i) block.far[i] = block.plain[i] = random_();
    }
  }

  uint64_t some_words() { return random_() % 3 == 0 ? random_() % 2000 + 1 : random_() % (uint64_t{1} << 18) + 1; }

  // Far memory was full, so nothing may have changed.
  void refused(const Block& block) {
    if (!run_.may_be_full || errno != ENOMEM) return fail(ringside_memory_error());
    counts_.refused.fetch_add(1, std::memory_order_relaxed);
    check_block(block, 0, block.plain.size());
  }

  void change_block(Block& block) {
    const uint64_t words = some_words();
    if (block.far == nullptr) {
      block.far = static_cast<uint64_t*>(ringside_memory_calloc(words, sizeof(uint64_t)));
      if (block.far == nullptr) return refused(block);
      block.plain.assign(words, 0);
    } else if (random_() % 2 == 0) {
      auto* const moved = static_cast<uint64_t*>(ringside_memory_realloc(block.far, words * sizeof(uint64_t)));
      if (moved == nullptr) return refused(block);
      block.far = moved;
      const uint64_t before = std::min<uint64_t>(block.plain.size(), words);
      block.plain.resize(words);
      // The words that realloc adds may contain old bytes within the last granule.
      for (uint64_t i = before; i < words; ++i) block.far[i] = block.plain[i] = i;
    } else {
      check_block(block, 0, block.plain.size());
      ringside_memory_free(block.far);
      block = {};
    }
  }

  void advise() {
    Block& block = blocks_[random_() % blocks_.size()];
    if (block.plain.empty()) return;
    const uint64_t first = random_() % block.plain.size(), count = random_() % (block.plain.size() - first) + 1;
    const uint64_t bytes = count * sizeof(uint64_t);
    switch (random_() % 8) {
      case 0:
        ringside_memory_pin(block.far + first, std::min<uint64_t>(bytes, 16384), 1);  // may fail: the limit is reached
        ringside_memory_unpin(block.far + first, std::min<uint64_t>(bytes, 16384));
        break;
      case 1:
        if (ringside_memory_flush() != 0) fail(ringside_memory_error());
        break;
      case 2:
        ringside_memory_granule(block.far, size_t{4096} << random_() % 5);  // fails for small blocks
        break;
      case 3:
        if (ringside_memory_limit(options_.dram_bytes / 2 + random_() % 64 * (options_.dram_bytes / 128)) != 0 &&
            thread_ == 0) {
          fail(ringside_memory_error());
        }
        break;
      case 4:
        // The call is refused if far memory is not used in place, or if the block is small or has larger granules.
        ringside_memory_advise(block.far, sizeof(uint64_t),
                               random_() % 2 == 0 ? RINGSIDE_MEMORY_IN_PLACE : RINGSIDE_MEMORY_CACHED);
        break;
      default:
        if (ringside_memory_advise(block.far + first, bytes, static_cast<int>(random_() % 5 + 1)) != 0)
          fail(ringside_memory_error());
    }
  }

  uint64_t* shared_;
  uint64_t thread_;
  const ringside_memory_options& options_;
  const OracleRun& run_;
  std::atomic<bool>& failed_;
  OracleCounts& counts_;
  uint64_t accesses_ = 0;
  std::mt19937_64 random_;
  std::vector<uint64_t> plain_;
  std::vector<Block> blocks_{4};
};

}  // namespace

std::string compare_with_plain_memory(const ringside_memory_options& options, const OracleRun& run,
                                      OracleCounts* counts) {
  auto* const shared = static_cast<uint64_t*>(ringside_memory_alloc(kSharedWords * sizeof(uint64_t)));
  if (shared == nullptr) return ringside_memory_error();
  std::atomic<bool> failed{false};
  OracleCounts own;
  if (counts == nullptr) counts = &own;
  std::vector<Worker> workers;
  workers.reserve(static_cast<size_t>(run.threads));
  for (int thread = 0; thread < run.threads; ++thread)
    workers.emplace_back(shared, thread, options, run, failed, *counts);
  std::vector<std::thread> threads;
  for (Worker& worker : workers) threads.emplace_back([&worker] { worker.work(); });
  for (std::thread& thread : threads) thread.join();
  ringside_memory_free(shared);
  for (const Worker& worker : workers) {
    if (!worker.found.empty()) return worker.found;
  }
  return {};
}

}  // namespace ringside::testing
