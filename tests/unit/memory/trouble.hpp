// SPDX-License-Identifier: BSD-3-Clause
// One round of the comparison with ordinary memory, in a separate process. During the round, far memory becomes full or
// fails, or the process is killed. The round checks what the library promises for this case.
#pragma once

#include <stdint.h>

#include <string>

#include "tests/unit/memory/oracle.hpp"

namespace ringside::testing {

enum class Trouble {
  kNone,
  kFull,             // another user of the file system takes its free space and gives it back
  kReadsFail,        // reads fail with EIO
  kWritesFail,       // all writes are synchronous, because io_submit is not used, and fail with EIO
  kOrdersFail,       // io_submit fails, and so does the write that replaces it
  kEventsFail,       // io_getevents fails
  kLateWritesFail,   // the kernel accepts a write, and reports the failure at its completion
  kHolesFail,        // holes cannot be punched, so space is not given back
  kDeviceIsFull,     // the loop device of mount_own_disk has no free block: EIO at a write's completion
  kKilled
};
inline constexpr const char* kTroubleNames[] = {"none",   "full",  "reads", "writes", "orders",
                                                "events", "late", "holes", "device", "killed"};

struct Round {
  std::string wrong;    // the broken promise
  std::string skipped;  // why the round could not run
  uint64_t accesses = 0, refused = 0;
};

/// `run.seed` chooses the moment of the trouble.
Round round_with(Trouble trouble, const ringside_memory_options& options, const OracleRun& run);

}  // namespace ringside::testing
