// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/thread.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace ringside {

int bind_calling_thread(std::span<const int> cpus) noexcept {
  if (cpus.empty() || *std::ranges::min_element(cpus) < 0) return EINVAL;
  const auto bits = static_cast<std::size_t>(*std::ranges::max_element(cpus)) + 1;
  cpu_set_t* set = CPU_ALLOC(bits);
  if (set == nullptr) return ENOMEM;
  const std::size_t bytes = CPU_ALLOC_SIZE(bits);
  CPU_ZERO_S(bytes, set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
  const int error = sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  return error;
}

int bind_calling_thread(int cpu) noexcept {
  return bind_calling_thread({&cpu, 1});
}

void lower_thread_priority() noexcept {
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);
}

}  // namespace ringside
