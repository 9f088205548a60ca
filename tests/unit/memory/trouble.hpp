// SPDX-License-Identifier: BSD-3-Clause
// One round of the comparison with plain memory in a process of its own, to which something happens meanwhile: far
// memory is full, far memory fails, the process is killed. What the library promises for that case is checked.
#pragma once

#include <stdint.h>

#include <string>

#include "tests/unit/memory/oracle.hpp"

namespace ringside::testing {

enum class Trouble {
  kNone,
  kFull,             // another user of the file system takes and gives what is free
  kReadsFail,        // EIO
  kWritesFail,       // each write is waited for: there is no io_submit
  kOrdersFail,       // io_submit fails, and the write that takes its place
  kEventsFail,       // io_getevents fails
  kLateWritesFail,   // the kernel takes a write and reports its failure when it is complete
  kHolesFail,        // space cannot be given back
  kDeviceIsFull,     // the loop device of mount_own_disk has no block left: EIO when a write is complete
  kKilled
};
inline constexpr const char* kTroubleNames[] = {"none",   "full",  "reads", "writes", "orders",
                                                "events", "late", "holes", "device", "killed"};

struct Round {
  std::string wrong;    // what was not as promised
  std::string skipped;  // why it could not run
  uint64_t accesses = 0, refused = 0;
};

/// `run.seed` chooses the moment of the trouble.
Round round_with(Trouble trouble, const ringside_memory_options& options, const OracleRun& run);

}  // namespace ringside::testing
