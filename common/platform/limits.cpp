// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/limits.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {
namespace {

// More descriptors than any of our programs opens. The value limits how many descriptors clients can occupy.
constexpr rlim_t kMostDescriptors = 16384;

// The memory that must remain for the threads and their libraries. The check maps it, but does not touch it.
constexpr std::size_t kMemoryBytes = std::size_t{32} << 20;

}  // namespace

std::size_t ensure_descriptors(std::size_t needed, const char* program) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return needed;
  const rlimit raised{std::max(limit.rlim_cur, std::min(limit.rlim_max, kMostDescriptors)), limit.rlim_max};
  if (raised.rlim_cur > limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  if (limit.rlim_cur < needed) {
    throw system_error(
        "the limit of open descriptors is {}, but {} needs at least {}; raise the limit with `ulimit -n {}`, or "
        "LimitNOFILE= of a service",
        limit.rlim_cur, program, needed, needed);
  }
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, SIZE_MAX));
}

void require_free_descriptors(std::size_t count, const char* what_for) {
  std::size_t free = 0;
  int error = 0;
  {
    std::vector<UniqueFd> probes;
    while (free < count && error == 0) {
      const UniqueFd& fd = probes.emplace_back(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) error = errno;
      if (error == 0) ++free;
    }
  }
  // The probes have ended by now, because the message may itself need a descriptor.
  if (error != 0) {
    throw system_error("{} needs {} descriptors, but only {} are free: {}; raise the limit with `ulimit -n`", what_for,
                       count, free, errno_text(error));
  }
}

void require_threads(std::size_t count, const char* what_for) {
  std::vector<std::thread> probes;
  std::atomic<bool> done{false};
  int error = 0;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // the probes inherit this mask and take no signals of this process
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
        "{} needs {} thread{} and {} MiB of memory, but less memory is available ({}); raise `ulimit -d` or `ulimit "
        "-v`",
        what_for, count, count == 1 ? "" : "s", kMemoryBytes >> 20, errno_text(memory_error));
  }
  if (error == 0) return;
  throw system_error("{} needs {} thread{}, but only {} can be started ({}); {}", what_for, count,
                     count == 1 ? "" : "s", probes.size(), errno_text(error), kNoMoreThreads);
}

}  // namespace ringside
