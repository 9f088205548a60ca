// SPDX-License-Identifier: BSD-3-Clause
// Lowers a limit of this process while an object exists. If a file would grow beyond the limit, the call fails, but no
// signal is sent.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

namespace ringside::testing {

class LoweredLimit {
 public:
  /// resource: the same as for setrlimit.
  LoweredLimit(int resource, rlim_t most) : resource_(resource), handler_(signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(resource_, &before_), 0);
    const rlimit lowered{most, before_.rlim_max};
    EXPECT_EQ(setrlimit(resource_, &lowered), 0);
  }
  ~LoweredLimit() {
    setrlimit(resource_, &before_);
    signal(SIGXFSZ, handler_);
  }
  LoweredLimit(const LoweredLimit&) = delete;
  LoweredLimit& operator=(const LoweredLimit&) = delete;

 private:
  int resource_;
  rlimit before_{};
  sighandler_t handler_;
};

}  // namespace ringside::testing
