// SPDX-License-Identifier: BSD-3-Clause
// The signals that ask this process to end, read from a descriptor, so that SIGINT (a person has enough) and SIGTERM (the
// run is over) can be told apart.
#pragma once

#include "common/platform/unique_fd.hpp"

namespace ringside {

class StopSignals {
 public:
  /// Blocks the stop signals (common/program/stop_signal.hpp) for this process. Throws Error (exit code 3).
  StopSignals();

  int fd() const noexcept { return fd_.get(); }
  /// The next one that has come; 0: none.
  int take() noexcept;

 private:
  UniqueFd fd_;
};

}  // namespace ringside
