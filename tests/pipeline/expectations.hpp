// SPDX-License-Identifier: BSD-3-Clause
// Expectations about a process that has ended, and about its output. A failure names the line in the test.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/pipeline/process.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

/// Expects this exit code. Returns what the process printed.
inline Finished expect_exit(int code, Finished ran, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (ran.exit_code != code) {
    ADD_FAILURE_AT(file, line) << "exit code " << ran.exit_code << ", signal " << ran.death_signal << ", expected "
                               << code << "\n" << ran.out << ran.err;
  }
  return ran;
}

/// Runs `ringside` to its end, and expects exit code 0. Returns what the process printed.
inline Finished expect_done(const Words& arguments, const std::function<void()>& in_child = {},
                            const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return expect_exit(0, run("ringside", arguments, in_child), file, line);
}

/// The doubles of a NumPy file that `export` has written.
inline std::vector<double> read_npy(const std::string& path) {
  const std::string bytes = content_of(path);
  EXPECT_EQ(bytes.substr(1, 5), "NUMPY");
  const std::size_t start = bytes.find('\n') + 1;
  EXPECT_EQ(start % 64, 0u);
  std::vector<double> values((bytes.size() - start) / sizeof(double));
  std::memcpy(values.data(), bytes.data() + start, values.size() * sizeof(double));
  return values;
}

/// The names that tests of processes use without a namespace.
namespace names {
using testing::content_of;
using testing::expect_done;
using testing::expect_exit;
using testing::Finished;
using testing::joined;
using testing::limiting;
using testing::Process;
using testing::run;
using testing::TemporaryFolder;
using testing::Words;
}  // namespace names

}  // namespace ringside::testing
