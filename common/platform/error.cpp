// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/error.hpp"

#include <system_error>

namespace ringside {

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace ringside
