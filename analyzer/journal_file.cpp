// A log in a plain file: write(2), which survives the death of any process at once, and fdatasync for power loss.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "analyzer/journal_layout.hpp"
#include "analyzer/journal_storage.hpp"
#include "analyzer/pool_file.hpp"
#include "common/error.hpp"
#include "common/output_file.hpp"
#include "common/unique_fd.hpp"

namespace ringside {
namespace {

class FileLog final : public JournalStorage {
 public:
  FileLog(UniqueFd fd, std::uint64_t used, std::uint64_t capacity)
      : fd_(std::move(fd)), used_(used), capacity_(capacity) {}

  std::uint64_t used_bytes() const noexcept override { return used_; }
  std::uint64_t capacity_bytes() const noexcept override { return capacity_; }

  int append(std::span<const std::byte> bytes) noexcept override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t wrote =
          pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(used_ + done));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        const int error = wrote < 0 ? errno : EIO;
        cut(used_);  // a half frame: should this fail, too, it does not verify
        return error;
      }
      done += static_cast<std::size_t>(wrote);
    }
    used_ += bytes.size();
    return 0;
  }

  int clear() noexcept override { return cut(0); }

  int cut(std::uint64_t bytes) noexcept override {
    if (ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) return errno;
    used_ = bytes;
    return 0;
  }

  int sync() noexcept override { return fdatasync(fd_.get()) == 0 ? 0 : errno; }

 private:
  UniqueFd fd_;
  std::uint64_t used_;
  const std::uint64_t capacity_;
};

}  // namespace

std::unique_ptr<JournalStorage> open_file_log(const std::string& path, std::uint64_t capacity, Foreign foreign) {
  const bool is_new = access(path.c_str(), F_OK) != 0;
  // O_NONBLOCK: a pipe in its place must not hold us up.
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kPrivateMode));
  if (!fd.valid()) {
    const int error = errno;
    throw system_error("{}: the journal cannot be opened for writing: {}{}", path, errno_text(error),
                       owner_and_mode(path));
  }
  const struct stat status = status_of(fd.get(), path);
  if (!S_ISREG(status.st_mode)) throw usage_error("{}: not a regular file; a journal's log is one", path);
  if (foreign == Foreign::kRefused) refuse_foreign_file(status, path);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_error("{}: cannot be locked: {}", path, errno_text(errno));
    throw system_error("{}: the journal is in use by another process; one at a time can write it", path);
  }
  if ((status.st_mode & 07077) != 0 && fchmod(fd.get(), kPrivateMode) != 0) {
    throw system_error("{}: others may read the journal, and that cannot be changed: {}", path, errno_text(errno));
  }
  const auto used = static_cast<std::uint64_t>(status_of(fd.get(), path).st_size);
  if (is_new) sync_folder_of(path, path);
  return std::make_unique<FileLog>(std::move(fd), used, capacity);
}

}  // namespace ringside
