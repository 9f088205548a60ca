// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/descriptor_limit.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {
namespace {

// More than any of our programs opens; a cap, so that clients cannot take more than is needed.
constexpr rlim_t kMost = 16384;

}  // namespace

std::size_t ensure_descriptors(std::size_t needed, const char* program) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return needed;
  const rlimit raised{std::max(limit.rlim_cur, std::min(limit.rlim_max, kMost)), limit.rlim_max};
  if (raised.rlim_cur > limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  if (limit.rlim_cur < needed) {
    throw system_error(
        "the limit of open descriptors is {}, {} needs at least {}; raise it with `ulimit -n {}`, or LimitNOFILE= of a "
        "service",
        limit.rlim_cur, program, needed, needed);
  }
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, SIZE_MAX));
}

void require_free_descriptors(std::size_t count, const char* what_for) {
  std::size_t free = 0;
  int error = 0;
  {
    std::vector<UniqueFd> probes;
    while (free < count && error == 0) {
      const UniqueFd& fd = probes.emplace_back(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) error = errno;
      if (error == 0) ++free;
    }
  }
  // The probes are closed by now, because making the message may itself need a descriptor.
  if (error != 0) {
    throw system_error("{} needs {} descriptors, found {} that are free: {}; raise the limit with `ulimit -n`",
                       what_for, count, free, errno_text(error));
  }
}

}  // namespace ringside
