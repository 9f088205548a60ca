// SPDX-License-Identifier: BSD-3-Clause
// How a way to run is named, in the output of `ringside plan` and of `ringside run --cores auto`.
#pragma once

#include <string>

#include "node/plan/plan.hpp"

namespace ringside {

/// The value of --reduce.
const char* reduce_word(const Configuration& configuration) noexcept;

/// "8 + 8 cores, --reduce slot, --elastic off"
std::string in_words(const Configuration& configuration);

}  // namespace ringside
