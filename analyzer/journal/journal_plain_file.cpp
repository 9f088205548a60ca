// SPDX-License-Identifier: BSD-3-Clause
// A log in a plain file. Bytes that write(2) has stored survive the death of any process, but they survive power loss
// only after fdatasync.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "analyzer/journal/journal_storage.hpp"
#include "analyzer/pool/pool_file.hpp"
#include "common/files/data_sync.hpp"
#include "common/files/output_file.hpp"
#include "common/journal/journal_layout.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {
namespace {

class FileLog final : public JournalStorage {
 public:
  FileLog(UniqueFd fd, std::uint64_t used, std::uint64_t capacity)
      : fd_(std::move(fd)), used_(used), capacity_(capacity) {}

  std::uint64_t used_bytes() const noexcept override { return used_; }
  std::uint64_t capacity_bytes() const noexcept override { return capacity_; }

  int append(std::span<const std::byte> bytes) noexcept override {
    if (write_whole(fd_.get(), bytes, used_) < bytes.size()) {
      const int error = errno;
      cut(used_);  // removes a partial frame; if this also fails, the frame does not verify
      return error;
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

  int sync() noexcept override { return sync_data(fd_.get()); }

 private:
  UniqueFd fd_;
  std::uint64_t used_;
  const std::uint64_t capacity_;
};

}  // namespace

RegularFile open_log_for_writing(const std::string& path, bool create, Foreign foreign) {
  RegularFile file = open_regular(path, O_RDWR | O_NOFOLLOW | (create ? O_CREAT : 0), kPrivateMode);
  if (!file.kind.empty()) throw usage_error("{}: {}; expected a regular file as a journal's log", path, file.why());
  if (!file.valid()) {
    throw system_error("{}: the journal cannot be opened for writing: {}{}", path, file.why(), owner_and_mode(path));
  }
  if (foreign == Foreign::kRefused) refuse_foreign_file(file.status, path);
  return file;
}

void keep_private(const RegularFile& log, const std::string& path) {
  if ((log.status.st_mode & 07077) != 0 && fchmod(log.fd.get(), kPrivateMode) != 0) {
    throw system_error("{}: other users can read the journal, and its mode cannot be changed: {}", path,
                       errno_text(errno));
  }
}

std::unique_ptr<JournalStorage> open_file_log(const std::string& path, std::uint64_t capacity, Foreign foreign) {
  const bool is_new = access(path.c_str(), F_OK) != 0;
  RegularFile file = open_log_for_writing(path, true, foreign);
  if (flock(file.fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_error("{}: cannot be locked: {}", path, errno_text(errno));
    throw system_error("{}: the journal is in use by another process; only one at a time can write it", path);
  }
  keep_private(file, path);
  const auto used = static_cast<std::uint64_t>(status_of(file.fd.get(), path).st_size);
  if (is_new) sync_folder_of(path, path);
  return std::make_unique<FileLog>(std::move(file.fd), used, capacity);
}

}  // namespace ringside
