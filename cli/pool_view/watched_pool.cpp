// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/watched_pool.hpp"

#include <sys/stat.h>

#include <chrono>
#include <exception>

#include "common/platform/error.hpp"

namespace ringside {

const RingReader* WatchedPool::at(const std::string& path) {
  struct stat now {};
  const bool exists = stat(path.c_str(), &now) == 0;
  if (reader_ && exists && path == path_ && now.st_dev == device_ && now.st_ino == inode_) {
    try {
      reader_->check_intact();
      return &*reader_;
    } catch (const Error& error) {
      why_ = error.what();
    }
  }
  reader_.reset();
  try {
    // Without patience: a pool that is being made is there at the next look.
    reader_ = RingReader::open(path, std::chrono::milliseconds(0));
    reader_->survive_faults();
    path_ = path;
    device_ = now.st_dev;
    inode_ = now.st_ino;
    return &*reader_;
  } catch (const std::exception& error) {  // also no memory
    why_ = error.what();
    reader_.reset();
    return nullptr;
  }
}

}  // namespace ringside
