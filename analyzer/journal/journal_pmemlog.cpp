// SPDX-License-Identifier: BSD-3-Clause
// A log in a libpmemlog pool: an append is atomic, and on DAX it survives power loss when it returns. Only this file
// uses libpmemlog, which PMDK deprecated and later removed. Without RINGSIDE_HAVE_PMEMLOG the functions of this file
// only report that libpmemlog is missing.
#include "analyzer/journal/journal_storage.hpp"
#include "common/platform/error.hpp"

#ifdef RINGSIDE_HAVE_PMEMLOG

#include <fcntl.h>
#include <libpmemlog.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "analyzer/pool/pmdk_syncs.hpp"
#include "analyzer/pool/pool_file.hpp"
#include "common/files/data_sync.hpp"
#include "common/files/output_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/files/watched_mapping.hpp"
#include "common/journal/journal_layout.hpp"
#include "common/journal/journal_log_copy.hpp"
#include "common/ring/storage.hpp"

namespace ringside {
namespace {

struct CloseLog {
  void operator()(PMEMlogpool* log) const noexcept { pmemlog_close(log); }
};
using OpenLog = std::unique_ptr<PMEMlogpool, CloseLog>;

class PmemLog final : public JournalStorage {
 public:
  PmemLog(OpenLog log, UniqueFd fd, Storage storage, const std::string& path)
      : watched_(path, fd.get(), log.get(), static_cast<std::size_t>(status_of(fd.get(), path).st_size)),
        log_(std::move(log)),
        fd_(std::move(fd)),
        storage_(storage) {
    // A disk error ends only the journal, not the run. A truncation still ends the process: libpmemlog keeps pointers
    // of this process in the file's first page.
    watched_.survive_faults(WatchedMapping::Survive::kNotTruncation);
  }

  std::uint64_t used_bytes() const noexcept override { return static_cast<std::uint64_t>(pmemlog_tell(log_.get())); }
  std::uint64_t capacity_bytes() const noexcept override { return pmemlog_nbyte(log_.get()); }

  int append(std::span<const std::byte> bytes) noexcept override {
    const PmdkSyncs syncs;
    if (pmemlog_append(log_.get(), bytes.data(), bytes.size()) != 0) return errno;
    return syncs.error() != 0 ? syncs.error() : watched_.error();
  }

  int clear() noexcept override {
    const PmdkSyncs syncs;
    pmemlog_rewind(log_.get());
    return syncs.error() != 0 ? syncs.error() : watched_.error();
  }

  // libpmemlog cannot shorten a log. The bytes after the first `bytes` stay in the log; a reader still finds the
  // records that follow these bytes.
  int cut(std::uint64_t) noexcept override {
    constexpr std::array<std::byte, kFrameAlignment> kPadding{};
    const std::size_t over = used_bytes() % kFrameAlignment;
    return over == 0 ? 0 : append(std::span(kPadding).first(kFrameAlignment - over));
  }

  int sync() noexcept override {
    if (watched_.error() != 0) return watched_.error();
    return persists_in_place(storage_) ? 0 : sync_data(fd_.get());
  }

 private:
  WatchedMapping watched_;
  OpenLog log_;
  UniqueFd fd_;  // the descriptor that sync uses
  const Storage storage_;
};

std::string one_line(const char* text) {
  std::string line = text;
  for (char& c : line) c = c == '\n' ? ' ' : c;
  return line;
}

Error cannot_open(const std::string& path, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) {
    return system_error("{}: the journal is in use by another process; only one at a time can write it", path);
  }
  const std::string text = one_line(pmemlog_errormsg());
  if (error == EINVAL) return usage_error("{}: libpmemlog does not accept this file as a log: {}", path, text);
  return system_error("{}: the journal cannot be opened for writing: {}", path, text);
}

/// Removes the file that an interrupted creation left. Throws Error (exit code 2) for any other file.
void remove_leftover(const std::string& made) {
  const RegularFile file = open_regular(made, O_RDONLY | O_NOFOLLOW);
  if (file.kind.empty() && file.error == ENOENT) return;
  std::array<char, 4096> head{};
  const ssize_t got = file.valid() ? pread(file.fd.get(), head.data(), head.size(), 0) : -1;
  const std::string_view begin(head.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  const bool is_ours = begin.starts_with(kPmemlogSignature) || begin.find_first_not_of('\0') == std::string_view::npos;
  if (got < 0 || !is_ours) {
    throw usage_error("{}: this file exists already, but a new log is first made under its name; move the file away",
                      made);
  }
  if (unlink(made.c_str()) != 0) throw system_error("{}: {}", made, errno_text(errno));
}

/// Makes the log under another name first, so that an interrupted creation leaves no partial log under the log's name.
void create(const std::string& path, std::uint64_t capacity) {
  const std::string made = path + ".new";
  remove_leftover(made);
  // libpmemlog's shutdown state is useful only on DAX. There it requires rights that this program does not need
  // otherwise.
  int no_shutdown_state = 0;
  pmemlog_ctl_set(nullptr, "sds.at_create", &no_shutdown_state);
  const PmdkSyncs syncs;
  const OpenLog log(pmemlog_create(made.c_str(), std::max<std::uint64_t>(capacity, PMEMLOG_MIN_POOL), kPrivateMode));
  if (log == nullptr) {
    const int error = errno;
    unlink(made.c_str());
    if (error == ENOSPC || error == EFBIG) {
      throw system_error("{}: no room for the journal: {} bytes are needed ({})", path, capacity, errno_text(error));
    }
    throw cannot_open(path, error);
  }
  if (syncs.error() != 0) {
    unlink(made.c_str());
    throw system_error("{}: the journal could not be synced to its disk: {}", path, errno_text(syncs.error()));
  }
  if (rename(made.c_str(), path.c_str()) != 0) {
    throw system_error("{}: the new log cannot be given this name: {}", path, errno_text(errno));
  }
  sync_folder_of(path, path);
}

}  // namespace

bool has_pmemlog() noexcept {
  return true;
}

std::unique_ptr<JournalStorage> open_pmemlog_log(const std::string& path, std::uint64_t capacity, Storage storage,
                                                 Foreign foreign) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || (S_ISREG(status.st_mode) && status.st_size == 0)) create(path, capacity);
  RegularFile file = open_log_for_writing(path, false, foreign);
  keep_private(file, path);
  allocate_holes(file.fd.get(), path);
  const WatchedMapping watched_call(path, file.fd.get());
  const PmdkSyncs syncs;
  OpenLog log(pmemlog_open(path.c_str()));
  if (log == nullptr) throw cannot_open(path, errno);
  if (syncs.error() != 0) {
    throw system_error("{}: the journal could not be synced to its disk: {}", path, errno_text(syncs.error()));
  }
  return std::make_unique<PmemLog>(std::move(log), std::move(file.fd), storage, path);
}

}  // namespace ringside

#else

namespace ringside {

bool has_pmemlog() noexcept {
  return false;
}

std::unique_ptr<JournalStorage> open_pmemlog_log(const std::string& path, std::uint64_t, Storage, Foreign) {
  throw usage_error(
      "{}: --journal pmemlog: this build has no libpmemlog (newer PMDK dropped it); expected auto|file|off", path);
}

}  // namespace ringside

#endif
