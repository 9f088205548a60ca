#include "analyzer/journal_wipe.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "analyzer/journal.hpp"
#include "analyzer/pool_file.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

void overwrite(int fd, std::uint64_t bytes, const std::string& path) {
  static constexpr std::array<std::byte, std::size_t{1} << 20> kZeros{};
  for (std::uint64_t at = 0; at < bytes;) {
    const ssize_t wrote =
        pwrite(fd, kZeros.data(), std::min<std::uint64_t>(bytes - at, kZeros.size()), static_cast<off_t>(at));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      throw system_error("{}: cannot be overwritten at byte {}: {}", path, at, errno_text(wrote < 0 ? errno : EIO));
    }
    at += static_cast<std::uint64_t>(wrote);
  }
  if (fsync(fd) != 0) {
    throw system_error("{}: was overwritten, but could not be synced: {}; it was not deleted", path, errno_text(errno));
  }
}

}  // namespace

WipedJournal wipe_journal(const std::string& pool) {
  WipedJournal wiped;
  for (const std::string& path : journal_files_there(pool)) {
    const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.valid()) throw system_error("{}: the journal cannot be wiped: {}", path, errno_text(errno));
    const struct stat status = status_of(fd.get(), path);
    if (!S_ISREG(status.st_mode)) throw system_error("{}: not a regular file, not wiped; a journal's log is one", path);
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      throw system_error("{}: the journal is in use by another process: {}", path, errno_text(errno));
    }
    overwrite(fd.get(), static_cast<std::uint64_t>(status.st_size), path);
    if (unlink(path.c_str()) != 0) {
      throw system_error("{}: was overwritten, but cannot be deleted: {}", path, errno_text(errno));
    }
    ++wiped.files;
    wiped.bytes += static_cast<std::uint64_t>(status.st_size);
  }
  if (wiped.files > 0) sync_folder_of(journal_file(pool, 0), pool);
  return wiped;
}

}  // namespace ringside
