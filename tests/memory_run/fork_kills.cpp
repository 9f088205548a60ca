// SPDX-License-Identifier: BSD-3-Clause
// memory_fork_kills child|parent|fork|late|full ROUNDS SEED, under `ringside-memory run`: 8 threads work on memory of
// the arena and compare it with ordinary memory, while processes that share the arena through fork are killed.
//   child   forked children work on their private copies and are killed; the parent continues
//   parent  the parent is killed; the child continues with its copy and writes "same"
//   fork    the process is killed by one thread while another thread forks
//   late    a child starts its arena when 8 threads make the first allocations while it forks; nothing is killed
//   full    the copy for a child does not fit into far memory
// Exit code 1: a word differed.
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/memory_run/status_of.hpp"

namespace {

using ringside::testing::status_of;

constexpr uint64_t kThreads = 8, kBytes = uint64_t{16} << 20, kWords = kBytes / sizeof(uint64_t);
constexpr uint64_t kWordsOfThread = kWords / kThreads;

// A word contains its index and the number of stores to it. With these two numbers, a test can check a copy that was
// made while other threads stored.
uint64_t* far_words = nullptr;
uint64_t* plain_words = nullptr;  // in the kernel's memory

[[noreturn]] void differs(uint64_t index) {
  std::fprintf(stderr, "process %d: word %llu is %llx, expected %llx\n", static_cast<int>(getpid()),
               static_cast<unsigned long long>(index), static_cast<unsigned long long>(far_words[index]),
               static_cast<unsigned long long>(plain_words[index]));
  _exit(1);
}

struct Block {
  uint64_t* words = nullptr;
  uint64_t count = 0, seed = 0;
};

class Worker {
 public:
  Worker(uint64_t thread, uint64_t seed) : first_(thread * kWordsOfThread), random_(seed * 100 + thread) {}

  void step() {
    const uint64_t first = first_ + random_() % kWordsOfThread;
    const uint64_t most = first_ + kWordsOfThread - first, end = first + random_() % (most < 3000 ? most : 3000) + 1;
    const bool stores = random_() % 2 == 0;
    for (uint64_t i = first; i < end && i < first_ + kWordsOfThread; ++i) {
      if (far_words[i] != plain_words[i]) differs(i);
      if (stores) far_words[i] = plain_words[i] = plain_words[i] + 1;
    }
    if (random_() % 16 == 0) change_block();
  }
  void check() const {
    for (uint64_t i = first_; i < first_ + kWordsOfThread; ++i) {
      if (far_words[i] != plain_words[i]) differs(i);
    }
  }
  uint64_t random() { return random_(); }

 private:
  void change_block() {
    if (block_.words == nullptr) {
      block_.count = random_() % 100'000 + (uint64_t{1} << 17);  // at least 1 MiB, so that the block is in the arena
      block_.words = static_cast<uint64_t*>(std::malloc(block_.count * sizeof(uint64_t)));
      block_.seed = random_();
      if (block_.words == nullptr) return;  // far memory is full
      for (uint64_t i = 0; i < block_.count; i += 97) block_.words[i] = block_.seed + i;
      return;
    }
    for (uint64_t i = 0; i < block_.count; i += 97) {
      if (block_.words[i] == block_.seed + i) continue;
      std::fprintf(stderr, "process %d: word %llu of a block differs\n", static_cast<int>(getpid()),
                   static_cast<unsigned long long>(i));
      _exit(1);
    }
    std::free(block_.words);
    block_ = {};
  }

  uint64_t first_;
  std::mt19937_64 random_;
  Block block_;
};

/// Threads 1 to 7, which work until the destructor is called. The caller is thread 0.
class Threads {
 public:
  explicit Threads(uint64_t seed) {
    for (uint64_t thread = 1; thread < kThreads; ++thread) {
      threads_.emplace_back([this, thread, seed] {
        Worker worker(thread, seed);
        while (!over_.load()) worker.step();
        worker.check();
      });
    }
  }
  ~Threads() {
    over_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

void make_words() {
  far_words = static_cast<uint64_t*>(std::malloc(kBytes));
  void* const plain = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (far_words == nullptr || plain == MAP_FAILED) _exit(2);
  plain_words = static_cast<uint64_t*>(plain);
  for (uint64_t i = 0; i < kWords; ++i) far_words[i] = plain_words[i] = (i + 1) << 32;
}

/// Call in a child. The words of the forking thread must be exact. All other pages have the content that they had at
/// some time during the fork.
void adopt_words() {
  for (uint64_t i = 0; i < kWords; ++i) {
    const bool exact = i < kWordsOfThread;
    if (exact ? far_words[i] != plain_words[i] : far_words[i] >> 32 != i + 1) differs(i);
    plain_words[i] = far_words[i];
  }
}

int kill_children(uint64_t rounds, uint64_t seed) {
  Worker own(0, seed);
  const Threads others(seed);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (uint64_t left = own.random() % 100; left > 0; --left) own.step();
    int ends[2];
    if (pipe(ends) != 0) return 2;
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
      alarm(100);
      adopt_words();
      Worker worker(0, seed + round + 1);
      const Threads copies(seed + round + 1);
      for (int i = 0; i < 10; ++i) worker.step();
      if (write(ends[1], "w", 1) != 1) _exit(2);
      for (;;) worker.step();
    }
    close(ends[1]);
    char works = 0;
    if (round % 3 != 0 && read(ends[0], &works, 1) != 1) return 3;  // the child ended without a kill
    for (uint64_t left = own.random() % 100; left > 0; --left) own.step();
    close(ends[0]);
    kill(child, SIGKILL);
    if (status_of(child) != -SIGKILL) return 1;
    own.check();
  }
  return 0;
}

int kill_parent(uint64_t seed) {
  Worker own(0, seed);
  const Threads others(seed);
  for (uint64_t left = own.random() % 100; left > 0; --left) own.step();
  int ends[2];
  if (pipe(ends) != 0) return 2;
  if (fork() == 0) {
    close(ends[1]);  // only the parent keeps this end open
    alarm(100);
    adopt_words();
    Worker worker(0, seed + 1);
    {
      const Threads copies(seed + 1);
      pollfd parent{ends[0], POLLIN, 0};
      while (poll(&parent, 1, 0) == 0) worker.step();
      for (int i = 0; i < 200; ++i) worker.step();
    }
    worker.check();
    _exit(write(1, "same\n", 5) == 5 ? 0 : 2);
  }
  for (uint64_t left = own.random() % 200; left > 0; --left) own.step();
  kill(getpid(), SIGKILL);
  return 2;
}

int kill_in_fork(uint64_t seed) {
  Worker own(0, seed);
  const Threads others(seed);
  std::thread killer([seed] {
    std::mt19937_64 random(seed);
    // The kill comes after some forks, and often during a fork, because the copy for a fork takes some ten
    // milliseconds.
    volatile uint64_t counter = 0;
    for (uint64_t left = random() % 200'000'000; left > 0; --left) counter = counter + 1;
    kill(getpid(), SIGKILL);
  });
  for (;;) {
    if (fork() == 0) _exit(0);
    own.step();
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

/// Allocates and stores. Returns whether the memory later has the same content.
bool allocates(uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < 4; ++round) {
    const uint64_t count = random() % 100'000 + (uint64_t{1} << 17);
    auto* const words = static_cast<uint64_t*>(std::malloc(count * sizeof(uint64_t)));
    if (words == nullptr) return false;
    for (uint64_t i = 0; i < count; i += 97) words[i] = seed + i;
    std::this_thread::yield();
    for (uint64_t i = 0; i < count; i += 97) {
      if (words[i] != seed + i) return false;
    }
    std::free(words);
  }
  return true;
}

/// If its parent had allocated nothing, a child starts its arena at its first allocation. Here, 8 threads make their
/// first allocations at the same time, while the child forks.
int start_late(uint64_t rounds, uint64_t seed) {
  for (uint64_t round = 0; round < rounds; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);
      std::atomic<bool> good{true};
      std::vector<std::thread> threads;
      for (uint64_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
          if (!allocates(seed * 1000 + round * 10 + thread)) good.store(false);
        });
      }
      for (int forks = 0; forks < 4; ++forks) {
        const pid_t grandchild = fork();
        if (grandchild == 0) {
          alarm(100);
          _exit(allocates(seed) ? 0 : 1);
        }
        if (grandchild < 0 || status_of(grandchild) != 0) good.store(false);
      }
      for (std::thread& thread : threads) thread.join();
      _exit(good.load() ? 0 : 1);
    }
    if (child < 0 || status_of(child) != 0) return 1;
  }
  return 0;
}

/// The allocation takes more than half of far memory, so that a copy does not fit. The child must end at its first
/// access, and must never read zeros.
int fork_without_room() {
  constexpr uint64_t kMost = uint64_t{160} << 20;
  auto* const words = static_cast<uint64_t*>(std::malloc(kMost));
  if (words == nullptr) return 2;
  for (uint64_t i = 0; i < kMost / sizeof(uint64_t); i += 5000) words[i] = i + 1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    _exit(*const_cast<volatile uint64_t*>(words) == 1 ? 3 : 4);
  }
  if (status_of(child) != -SIGABRT) return 1;
  for (uint64_t i = 0; i < kMost / sizeof(uint64_t); i += 5000) {
    if (words[i] != i + 1) return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  alarm(100);  // kills a process that hangs
  const std::string mode = arguments[1];
  const uint64_t rounds = std::strtoull(arguments[2], nullptr, 10), seed = std::strtoull(arguments[3], nullptr, 10);
  if (mode == "late") return start_late(rounds, seed);
  if (mode == "full") return fork_without_room();
  make_words();
  if (mode == "child") return kill_children(rounds, seed);
  if (mode == "parent") return kill_parent(seed);
  if (mode == "fork") return kill_in_fork(seed);
  return 2;
}
