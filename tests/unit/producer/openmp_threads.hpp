// SPDX-License-Identifier: BSD-3-Clause
// The number of OpenMP threads for one scope of a test.
#pragma once

#include <omp.h>

namespace ringside::testing {

/// Restores the number of threads at the end of the scope, even if the test has set it again.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int count = omp_get_max_threads()) { omp_set_num_threads(count); }
  ~OpenMpThreads() { omp_set_num_threads(before_); }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  const int before_ = omp_get_max_threads();
};

}  // namespace ringside::testing
