// SPDX-License-Identifier: BSD-3-Clause
#include "node/benches/disk_bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/files/data_sync.hpp"
#include "common/files/new_file.hpp"
#include "common/files/output_file.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr int kPageSyncs = 5;
constexpr int kStepSyncs = 2;
constexpr std::size_t kDiskPageBytes = 4096;

/// Changes the first `bytes` bytes of the file, syncs the file, and returns the seconds of the sync.
double sync_after_change(const std::string& folder, int fd, std::vector<char>& content, std::size_t bytes) {
  std::fill(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(bytes), static_cast<char>(content[0] + 1));
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t written = pwrite(fd, content.data() + at, bytes - at, static_cast<off_t>(at));
    if (written <= 0) {
      throw system_error("{}: writing {} bytes for a measurement failed: {}", printable(folder), bytes,
                         errno_text(written == 0 ? ENOSPC : errno));
    }
    at += static_cast<std::size_t>(written);
  }
  const std::int64_t begun = now_ns();
  if (const int error = sync_data(fd)) {
    throw system_error("{}: fdatasync failed: {}", printable(folder), errno_text(error));
  }
  return seconds(now_ns() - begun);
}

}  // namespace

void measure_disk(const std::string& folder, std::uint64_t bytes, DiskSamples& samples) {
  // NewFile makes an unnamed file if the file system supports such files; otherwise its destructor removes the name.
  const NewFile file(folder + "/.ringside-calibrate", kPrivateMode);
  if (!file.fd().valid()) {
    throw system_error("{}: a file for measuring the disk cannot be made: {}", printable(folder), errno_text(errno));
  }
  std::vector<char> content(std::max<std::uint64_t>(bytes, kDiskPageBytes));
  sync_after_change(folder, file.fd().get(), content, content.size());  // allocates the file's blocks
  for (int n = 0; n < kStepSyncs; ++n) {
    const double took_s = sync_after_change(folder, file.fd().get(), content, content.size());
    samples.sync_gb_s.push_back(static_cast<double>(content.size()) * 1e-9 / std::max(took_s, 1e-9));
  }
  for (int n = 0; n < kPageSyncs; ++n) {
    samples.sync_s.push_back(sync_after_change(folder, file.fd().get(), content, kDiskPageBytes));
  }
}

}  // namespace ringside
