// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/memory/trouble.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <new>
#include <random>

#include "tests/unit/memory/apart.hpp"

namespace ringside::testing {
namespace {

constexpr int kNotPossible = 77, kDiffers = 1;

/// Another user of the far folder's file system, whose file grows and shrinks. Any thread may call its functions.
class OtherUser {
 public:
  explicit OtherUser(const char* folder) : file_(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {}
  void step(uint64_t random) {
    constexpr off_t kMost = off_t{64} << 20;
    const auto offset = static_cast<off_t>(random % kMost) & ~off_t{4095};
    const auto bytes = static_cast<off_t>((random >> 32) % (uint64_t{8} << 20) + 4096);
    if (random % 11 == 0) {
      if (ftruncate(file_, 0) != 0) _exit(kNotPossible);
    } else {
      fallocate(file_, 0, offset, bytes);  // may fail: the file system may be full
    }
  }

 private:
  int file_;
};

bool begin(Trouble trouble) {
  switch (trouble) {
    case Trouble::kReadsFail: return fail_calls({SYS_pread64}, EIO);
    case Trouble::kWritesFail: return fail_calls({SYS_pwrite64}, EIO);
    case Trouble::kOrdersFail: return fail_calls({SYS_io_submit, SYS_pwrite64}, EIO);
    case Trouble::kEventsFail: return fail_calls({SYS_io_getevents}, EIO);
    case Trouble::kHolesFail: return fail_calls({SYS_fallocate}, EIO);
    case Trouble::kLateWritesFail: {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit most{4096, 4096};
      return setrlimit(RLIMIT_FSIZE, &most) == 0;
    }
    case Trouble::kDeviceIsFull: {
      const int file = open((std::string(kOwnFolder) + "/rest").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
      for (off_t size = off_t{1} << 20, at = 0; size >= 4096;) {
        if (fallocate(file, 0, at, size) == 0) at += size;
        else size /= 2;
      }
      return file >= 0;
    }
    case Trouble::kKilled: kill(getpid(), SIGKILL); return false;
    default: return true;
  }
}

int work(Trouble trouble, const ringside_memory_options& options, OracleRun run, OracleCounts& counts) {
  if (trouble == Trouble::kWritesFail && !fail_calls({SYS_io_setup}, ENOSYS)) return kNotPossible;
  if (ringside_memory_start(&options) != 0) {
    std::fprintf(stderr, "%s\n", ringside_memory_error());
    return errno == EPERM || errno == ENOSYS ? kNotPossible : kDiffers;
  }
  run.reports_at_once = true;
  OtherUser other(options.far_folder);
  // The trouble begins in the second or third sixteenth of the run: then much content is in far memory, and most of the
  // work remains to be done.
  std::mt19937_64 random(run.seed);
  const uint64_t most = run.operations * static_cast<uint64_t>(run.threads) / 64;
  std::atomic<uint64_t> steps{0};
  const uint64_t moment = most / 16 + random() % (most / 8 + 1);
  if (trouble == Trouble::kFull) {
    run.may_be_full = true;
    run.meanwhile = [&other](uint64_t now) { other.step(now); };
  } else if (trouble != Trouble::kNone) {
    run.meanwhile = [&](uint64_t) {
      if (steps.fetch_add(1) == moment && !begin(trouble)) _exit(kNotPossible);
    };
  }
  const std::string found = compare_with_plain_memory(options, run, &counts);
  if (!found.empty()) return kDiffers;
  struct ringside_memory_stats stats {};
  stats.struct_bytes = sizeof stats;
  if (ringside_memory_stats(&stats) != 0 || stats.far_bytes != 0 || stats.pinned_bytes != 0) {
    std::fprintf(stderr, "%llu bytes of far memory are in use after all was freed, %llu are pinned\n",
                 static_cast<unsigned long long>(stats.far_bytes), static_cast<unsigned long long>(stats.pinned_bytes));
    return kDiffers;
  }
  return ringside_memory_stop() == 0 ? 0 : kDiffers;
}

/// If a process ended in a wrong way, returns how it ended; otherwise an empty text.
std::string judge(Trouble trouble, const Ending& ending) {
  const std::string how = "signal " + std::to_string(ending.signal) + ", code " + std::to_string(ending.code) +
                          ", standard error: " + ending.lines;
  switch (trouble) {
    case Trouble::kNone:
    case Trouble::kFull: return ending.signal == 0 && ending.code == 0 && ending.lines.empty() ? "" : how;
    case Trouble::kKilled: return ending.signal == SIGKILL && ending.lines.empty() ? "" : how;
    default: {
      const bool says = ending.lines.rfind("ringside_memory: cannot ", 0) == 0;
      return ending.signal == SIGABRT && ending.count() == 1 && says ? "" : how;
    }
  }
}

}  // namespace

Round round_with(Trouble trouble, const ringside_memory_options& options, const OracleRun& run) {
  Round round;
  void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {"no memory", "", 0, 0};
  auto* const counts = new (shared) OracleCounts;
  const Ending ending = in_process([&] { return work(trouble, options, run, *counts); });
  if (ending.signal == 0 && ending.code == kNotPossible) {
    round.skipped = ending.lines.empty() ? "a seccomp filter is not permitted" : ending.lines;
  } else {
    round.wrong = judge(trouble, ending);
  }
  round.accesses = counts->accesses.load();
  round.refused = counts->refused.load();
  munmap(shared, 4096);
  return round;
}

}  // namespace ringside::testing
