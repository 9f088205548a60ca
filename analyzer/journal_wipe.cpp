#include "analyzer/journal_wipe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "analyzer/journal.hpp"
#include "analyzer/journal_layout.hpp"
#include "analyzer/journal_log_file.hpp"
#include "analyzer/pool_file.hpp"
#include "common/error.hpp"
#include "common/regular_file.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;

void write_zeros(int fd, std::uint64_t begin, std::uint64_t end, const std::string& path) {
  static constexpr std::array<std::byte, kBlockBytes> kZeros{};
  while (begin < end) {
    const ssize_t wrote = pwrite(fd, kZeros.data(), end - begin, static_cast<off_t>(begin));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      throw system_error("{}: cannot be overwritten at byte {}: {}", path, begin, errno_text(wrote < 0 ? errno : EIO));
    }
    begin += static_cast<std::uint64_t>(wrote);
  }
}

void sync(int fd, const std::string& path) {
  if (fsync(fd) == 0) return;
  throw system_error("{}: was overwritten, but could not be synced: {}; it was not deleted", path, errno_text(errno));
}

/// Overwrites from the end to the beginning, the first word last: that word identifies the file as a log of ours, so an
/// interrupted wipe can be repeated.
void overwrite(int fd, std::uint64_t bytes, const std::string& path) {
  const std::uint64_t word = std::min<std::uint64_t>(sizeof(JournalHeader::magic), bytes);
  for (std::uint64_t end = bytes; end > word;) {
    const std::uint64_t begin = std::max(word, (end - 1) / kBlockBytes * kBlockBytes);
    if (begin == word) sync(fd, path);
    write_zeros(fd, begin, end, path);
    end = begin;
  }
  sync(fd, path);
  write_zeros(fd, 0, word, path);
  sync(fd, path);
}

bool holds_only_zeros(int fd, std::uint64_t bytes) {
  std::vector<char> block(kBlockBytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const ssize_t got = pread(fd, block.data(), block.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || std::any_of(block.data(), block.data() + got, [](char c) { return c != 0; })) return false;
    at += static_cast<std::uint64_t>(got);
  }
  return true;
}

/// The beginning of a log: its header, or the first record after a damaged header.
bool begins_as_a_log(std::span<const std::byte> log) {
  JournalHeader header;
  FrameHeader frame;
  const std::size_t there = std::min(log.size(), sizeof(header.magic));
  if (there > 0 && std::memcmp(log.data(), &kJournalMagic, there) == 0) return true;
  if (log.size() < sizeof(header) + sizeof(frame)) return false;
  std::memcpy(&frame, log.data() + sizeof(header), sizeof(frame));
  return frame.mark == kFrameMark && frame.payload_bytes > 0 && frame.payload_bytes <= kMaxRecordBytes &&
         frame.seq > 0 && frame.seq < kMaxRecordSeq;
}

/// Whether the file is a log of this program, in any state: with records, empty, of another version, damaged, or partly
/// wiped.
bool is_a_log(int fd, std::uint64_t bytes) {
  if (bytes == 0) return true;
  // libpmemlog's data, after its own headers; a damaged or emptied log still holds those bytes.
  constexpr std::uint64_t kPmemlogDataAt = 8192;
  std::array<std::byte, kPmemlogDataAt + sizeof(JournalHeader) + sizeof(FrameHeader)> begin{};
  const ssize_t got = pread(fd, begin.data(), std::min<std::uint64_t>(bytes, begin.size()), 0);
  if (got <= 0) return false;
  const std::span<const std::byte> head(begin.data(), static_cast<std::size_t>(got));
  const LogPlace place = place_of_log(head, bytes);
  if (place.kind == JournalKind::kFile) return begins_as_a_log(head) || holds_only_zeros(fd, bytes);
  if (head.size() < begin.size()) return false;
  const std::span<const std::byte> log = head.subspan(kPmemlogDataAt);
  return begins_as_a_log(log) || std::all_of(log.begin(), log.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

WipedJournal wipe_journal(const std::string& pool) {
  WipedJournal wiped;
  for (const std::string& path : journal_files_there(pool)) {
    const RegularFile file = open_regular(path, O_RDWR | O_NOFOLLOW);
    if (!file.kind.empty()) {
      wiped.left.push_back(fmt::format("{}: {}; a journal's log is a regular file", path, file.why()));
      continue;
    }
    if (!file.valid()) throw system_error("{}: the journal cannot be wiped: {}", path, file.why());
    const int fd = file.fd.get();
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      throw system_error("{}: the journal is in use by another process: {}", path, errno_text(errno));
    }
    const auto bytes = static_cast<std::uint64_t>(status_of(fd, path).st_size);
    if (!is_a_log(fd, bytes)) {
      wiped.left.push_back(fmt::format("{}: holds something else than a journal's log", path));
      continue;
    }
    overwrite(fd, bytes, path);
    if (!still_named(path, file.status)) {
      throw system_error("{}: was overwritten, but not deleted: the name is another file's by now", path);
    }
    if (unlink(path.c_str()) != 0) {
      throw system_error("{}: was overwritten, but cannot be deleted: {}", path, errno_text(errno));
    }
    ++wiped.files;
    wiped.bytes += bytes;
  }
  if (wiped.files > 0) sync_folder_of(journal_file(pool, 0), pool);
  return wiped;
}

}  // namespace ringside
