// SPDX-License-Identifier: BSD-3-Clause
// Memory that another process changes all the time, like a producer that violates the rules of the hand-off.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>

namespace ringside {

class VandalizedMemory {
 public:
  explicit VandalizedMemory(std::size_t doubles) : doubles_(doubles) {
    void* const shared = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    data_ = static_cast<double*>(shared);
    std::fill(data_, data_ + doubles, 1.0);
    pid_ = fork();
    if (pid_ == 0) change();
  }
  ~VandalizedMemory() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (data_ != nullptr) munmap(data_, bytes());
  }
  VandalizedMemory(const VandalizedMemory&) = delete;
  VandalizedMemory& operator=(const VandalizedMemory&) = delete;

  /// Waits for the first change. Returns false if the memory or the process could not be made.
  bool changes() const {
    if (pid_ <= 0) return false;
    while (*static_cast<volatile double*>(data_ + doubles_ - 1) == 1.0) sched_yield();
    return true;
  }
  const double* data() const { return data_; }

 private:
  std::size_t bytes() const { return doubles_ * sizeof(double); }

  [[noreturn]] void change() {
    for (int round = 0;; ++round) {
      const double scale = std::ldexp(1.0, 4 * (round % 13));  // each round changes other bins
      for (std::size_t i = 0; i < doubles_; ++i) {
        static_cast<volatile double*>(data_)[i] = scale * static_cast<double>(i % 4 + 1);
      }
    }
  }

  std::size_t doubles_;
  double* data_ = nullptr;
  pid_t pid_ = -1;
};

}  // namespace ringside
