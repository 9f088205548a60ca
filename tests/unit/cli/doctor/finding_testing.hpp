// SPDX-License-Identifier: BSD-3-Clause
// Compares a finding with what a test expects.
#pragma once

#include <gtest/gtest.h>

#include "cli/doctor/doctor.hpp"
#include "tests/unit/expect_text.hpp"

namespace ringside {

template <class T>
T fact(const Finding& finding, const std::string& key) {
  for (const auto& [name, value] : finding.facts) {
    if (name == key) return std::get<T>(value);
  }
  ADD_FAILURE() << finding.topic << " has no fact " << key;
  return T{};
}

/// Expects this verdict. Expects that the finding's text contains every string of `found`, and that its advice contains
/// every string of `advice`.
inline void expect_finding(const Finding& finding, Verdict verdict, const std::vector<std::string>& found = {},
                           const std::vector<std::string>& advice = {}, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  if (finding.verdict != verdict) ADD_FAILURE_AT(file, line) << finding.topic << ": " << finding.found;
  expect_has(finding.found, found, file, line);
  expect_has(finding.advice, advice, file, line);
}

}  // namespace ringside
