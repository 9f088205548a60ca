// SPDX-License-Identifier: BSD-3-Clause
// The line of the Error that an action throws, for tests of messages.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/platform/error.hpp"

namespace ringside {

/// The line; "" if nothing was thrown. The test fails if the exit code is not `code`, or if there is more than one
/// line.
template <class Action>
std::string failure_line(Action&& action, ExitCode code = ExitCode::kUsage) {
  try {
    action();
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    return line;
  }
  return "";
}

/// Expects that `action` is refused with this exit code and one line that contains `part`.
template <class Action>
void expect_refused(Action&& action, const std::string& part, ExitCode code = ExitCode::kUsage) {
  const std::string line = failure_line(action, code);
  EXPECT_NE(line, "") << "accepted; expected '" << part << "'";
  EXPECT_NE(line.find(part), std::string::npos) << "'" << part << "' in: " << line;
}

}  // namespace ringside
