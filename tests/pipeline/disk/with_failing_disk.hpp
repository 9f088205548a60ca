// SPDX-License-Identifier: BSD-3-Clause
// Processes whose disk fails: failing_disk.cpp lists the variables that determine how.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside::testing {

/// For Process: makes the disk fail for the program and for the programs that it starts.
inline std::function<void()> with_failing_disk(const char* variable, const std::string& value) {
  return [variable, value] {
    setenv("LD_PRELOAD", RINGSIDE_FAILING_DISK, 1);
    setenv(variable, value.c_str(), 1);
  };
}

}  // namespace ringside::testing
