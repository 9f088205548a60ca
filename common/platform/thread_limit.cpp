// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/thread_limit.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

// What threads and their libraries allocate besides; untouched it costs nothing.
constexpr std::size_t kMemoryBytes = std::size_t{32} << 20;

}  // namespace

void require_threads(std::size_t count, const char* what_for) {
  std::vector<std::thread> probes;
  std::atomic<bool> done{false};
  int error = 0;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // the probes inherit it: none of them takes this process's signals
  try {
    probes.reserve(count);
    while (probes.size() < count) probes.emplace_back([&done] { done.wait(false); });
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  void* memory = MAP_FAILED;
  if (error == 0) memory = mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int memory_error = error == 0 && memory == MAP_FAILED ? errno : 0;
  if (memory != MAP_FAILED) munmap(memory, kMemoryBytes);
  done.store(true);
  done.notify_all();
  for (std::thread& probe : probes) probe.join();
  if (memory_error != 0) {
    throw system_error(
        "{} needs {} thread{} and {} MiB of memory, found less memory ({}); raise `ulimit -d` or `ulimit -v`", what_for,
        count, count == 1 ? "" : "s", kMemoryBytes >> 20, errno_text(memory_error));
  }
  if (error == 0) return;
  throw system_error("{} needs {} thread{}, found that {} can be started ({}); {}", what_for, count,
                     count == 1 ? "" : "s", probes.size(), errno_text(error), kNoMoreThreads);
}

}  // namespace ringside
