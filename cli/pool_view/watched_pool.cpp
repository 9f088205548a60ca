// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/watched_pool.hpp"

#include <sys/stat.h>

#include <algorithm>
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
    // Does not wait: if the pool is being created at this moment, the next call finds it.
    reader_ = RingReader::open(path, std::chrono::milliseconds(0));
    reader_->survive_faults();
    path_ = path;
    device_ = now.st_dev;
    inode_ = now.st_ino;
    return &*reader_;
  } catch (const std::exception& error) {  // includes lack of memory
    why_ = error.what();
    reader_.reset();
    return nullptr;
  }
}

RingSlots slots_of(const RingReader& reader) {
  RingSlots found;
  found.count = reader.ring().geometry().slot_count();
  for (std::uint32_t slot = 0; slot < found.count; ++slot) {
    const SlotReading reading = reader.ring().slot(slot);
    RingSlot& one = found.slots.emplace_back(RingSlot{.slot = slot, .state = reading.state, .use = std::nullopt});
    if (reading.state != SlotState::kCommitted) continue;
    one.commit_seq = reading.header.commit_seq;
    one.iteration = reading.header.iteration;
    ++found.used;
  }
  std::stable_sort(found.slots.begin(), found.slots.end(), [](const RingSlot& a, const RingSlot& b) {
    const auto rank = [](const RingSlot& s) { return s.commit_seq == 0 ? ~std::uint64_t{0} : s.commit_seq; };
    return rank(a) < rank(b);
  });
  if (found.slots.size() > RingSlots::kMost) {
    const std::size_t too_old = found.used > RingSlots::kMost ? found.used - RingSlots::kMost : 0;
    found.slots.erase(found.slots.begin(), found.slots.begin() + static_cast<std::ptrdiff_t>(too_old));
    found.slots.resize(RingSlots::kMost);
  }
  for (RingSlot& one : found.slots) one.use = reader.use(one.slot);
  return found;
}

}  // namespace ringside
