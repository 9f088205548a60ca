#include "common/thread_binding.hpp"

#include <sched.h>

#include <cerrno>
#include <cstddef>

namespace ringside {

int bind_calling_thread(int cpu) noexcept {
  if (cpu < 0) return EINVAL;
  const auto bit = static_cast<std::size_t>(cpu);
  cpu_set_t* set = CPU_ALLOC(bit + 1);
  if (set == nullptr) return ENOMEM;
  const std::size_t bytes = CPU_ALLOC_SIZE(bit + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(bit, bytes, set);
  const int error = sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  return error;
}

}  // namespace ringside
