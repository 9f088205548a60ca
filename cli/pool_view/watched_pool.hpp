// SPDX-License-Identifier: BSD-3-Clause
// A pool that is looked at again and again while others make, wipe or replace it. The file is opened anew when the
// name stands for another one. Nothing that happens to the file ends this process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "common/pool_reader/ring_reader.hpp"

namespace ringside {

/// Used by one thread.
class WatchedPool {
 public:
  /// The pool of that name as it is now; null if it cannot be read: `why` says why. Valid until the next call.
  const RingReader* at(const std::string& path);

  /// One line, after `at` returned null.
  const std::string& why() const noexcept { return why_; }

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::optional<RingReader> reader_;
  std::string why_;
};

}  // namespace ringside
