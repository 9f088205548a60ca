// SPDX-License-Identifier: BSD-3-Clause
// What a call is refused with.
#pragma once

#include <string>

#include "common/platform/error.hpp"

namespace ringside::testing {

/// The message of the Error (exit code 2) that `call` throws; "accepted" if it throws none.
template <class Call>
std::string refusal_of(const Call& call) {
  try {
    call();
    return "accepted";
  } catch (const Error& error) {
    return error.code() == ExitCode::kUsage ? error.what() : std::string("another exit code: ") + error.what();
  }
}

}  // namespace ringside::testing
