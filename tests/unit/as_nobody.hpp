// SPDX-License-Identifier: BSD-3-Clause
// Gives up the rights of root while the object exists, so that tests of refused permissions also work for root.
#pragma once

#include <unistd.h>

#include <stdexcept>

namespace ringside::testing {

inline constexpr uid_t kNobody = 65534;

class AsNobody {
 public:
  AsNobody() : was_(geteuid()) {
    if (was_ == 0 && seteuid(kNobody) != 0) throw std::runtime_error("cannot become nobody");
  }
  ~AsNobody() {
    if (was_ == 0 && seteuid(0) != 0) _exit(1);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  uid_t was_;
};

}  // namespace ringside::testing
