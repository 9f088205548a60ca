// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/version.hpp"

namespace ringside {

const char* version() noexcept {
  return RINGSIDE_VERSION;
}

}  // namespace ringside
