// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/journal/journal_wipe.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/pool_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/journal/journal_layout.hpp"
#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_scan.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;

void write_zeros(int fd, std::uint64_t begin, std::uint64_t end, const std::string& path) {
  static constexpr std::array<std::byte, kBlockBytes> kZeros{};
  const std::size_t done = write_whole(fd, std::span(kZeros).first(end - begin), begin);
  if (done < end - begin) {
    throw system_error("{}: cannot be overwritten at byte {}: {}", path, begin + done, errno_text(errno));
  }
}

void sync(int fd, const std::string& path) {
  if (fsync(fd) == 0) return;
  throw system_error("{}: was overwritten, but could not be synced: {}; it was not deleted", path, errno_text(errno));
}

/// The first word marks the file as a journal's log, whatever the file held before, so that an interrupted wipe can be
/// repeated. This word is stored first and overwritten last, because the zeros are written from the end to the
/// beginning.
void overwrite_file(int fd, std::uint64_t bytes, const std::string& path) {
  const std::uint64_t word = std::min<std::uint64_t>(sizeof(kJournalMagic), bytes);
  if (word > 0 && pwrite(fd, &kJournalMagic, word, 0) != static_cast<ssize_t>(word)) {
    throw system_error("{}: cannot be overwritten at byte 0: {}", path, errno_text(errno));
  }
  sync(fd, path);
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

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool holds_only_zeros(int fd, std::uint64_t bytes) {
  std::vector<std::byte> block(kBlockBytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t got = read_whole(fd, block, at);
    if (got == 0 || !is_zero(std::span(block).first(got))) return false;
    at += got;
  }
  return true;
}

bool is_possible(const FrameHeader& frame) {
  return frame.mark == kFrameMark && frame.payload_bytes > 0 && frame.payload_bytes <= kMaxRecordBytes &&
         frame.seq > 0 && frame.seq < kMaxRecordSeq;
}

/// Whether these bytes are the beginning of a log: a log's header, or a first record after a damaged header.
bool begins_as_a_log(std::span<const std::byte> log) {
  FrameHeader frame;
  const std::size_t there = std::min(log.size(), sizeof(kJournalMagic));
  if (there > 0 && std::memcmp(log.data(), &kJournalMagic, there) == 0) return true;
  if (log.size() < sizeof(JournalHeader) + sizeof(frame)) return false;
  std::memcpy(&frame, log.data() + sizeof(JournalHeader), sizeof(frame));
  return is_possible(frame);
}

/// The offset of a log's first byte after libpmemlog's own headers, which a damaged or emptied log has as well.
constexpr std::uint64_t kPmemlogDataAt = 8192;

/// The possible seeds of the log's frames: the hash that the header contains; and the correct hash of the header, in
/// case the stored hash is damaged.
std::vector<std::uint64_t> possible_seeds(int fd) {
  std::vector<std::uint64_t> seeds;
  for (const std::uint64_t at : {std::uint64_t{0}, kPmemlogDataAt}) {
    JournalHeader header;
    if (read_whole(fd, std::as_writable_bytes(std::span(&header, 1)), at) < sizeof(header)) continue;
    seeds.push_back(header.hash);
    seeds.push_back(journal_header_hash(header));
  }
  return seeds;
}

/// Whether the frame at `at` verifies. If the header that determines the frame's seed is lost, whether a frame with the
/// next number follows this frame.
bool is_a_record(int fd, std::uint64_t at, const FrameHeader& frame, const std::vector<std::uint64_t>& seeds) {
  const std::size_t frame_end = frame_bytes(frame.payload_bytes);
  std::vector<std::byte> bytes(frame_end + sizeof(FrameHeader));
  const std::size_t got = read_whole(fd, bytes, at);
  if (got < frame_end) return false;
  const auto verifies = [&](std::uint64_t seed) { return frame_hash(bytes.data(), frame_end, seed) == frame.hash; };
  if (std::any_of(seeds.begin(), seeds.end(), verifies)) return true;
  if (got < bytes.size()) return false;
  FrameHeader next;
  std::memcpy(&next, bytes.data() + frame_end, sizeof(next));
  const auto padding = std::span(bytes).first(frame_end).subspan(sizeof(FrameHeader) + frame.payload_bytes);
  return is_possible(next) && next.seq == frame.seq + 1 && is_zero(padding);
}

/// Whether there is a record anywhere in the file: if a log's beginning was overwritten, later records can still be
/// read.
bool holds_a_record(int fd, std::uint64_t bytes) {
  constexpr std::size_t kLook = std::size_t{64} << 10;
  const std::vector<std::uint64_t> seeds = possible_seeds(fd);
  std::vector<std::byte> block(kLook + sizeof(FrameHeader));
  int impostors = 0;
  for (std::uint64_t begin = 0; begin < bytes; begin += kLook) {
    const std::size_t got = read_whole(fd, block, begin);
    for (std::size_t at = 0; at < kLook && at + sizeof(FrameHeader) <= got; at += kFrameAlignment) {
      FrameHeader frame;
      std::memcpy(&frame, block.data() + at, sizeof(frame));
      if (!is_possible(frame)) continue;
      if (is_a_record(fd, begin + at, frame, seeds)) return true;
      if (++impostors == kMaxFalseFrames) return false;
    }
  }
  return false;
}

/// Whether the file is a log of this program, in any state: with records, empty, of another version, damaged, or after
/// an interrupted wipe.
bool is_a_log(int fd, std::uint64_t bytes) {
  if (bytes == 0) return true;
  std::array<std::byte, kPmemlogDataAt + sizeof(JournalHeader) + sizeof(FrameHeader)> begin{};
  const std::span<const std::byte> head = std::span(begin).first(read_whole(fd, begin, 0));
  if (place_of_log(head, bytes).kind == JournalKind::kFile) {
    if (begins_as_a_log(head) || holds_only_zeros(fd, bytes)) return true;
  } else if (head.size() == begin.size()) {
    const std::span<const std::byte> log = head.subspan(kPmemlogDataAt);
    if (begins_as_a_log(log) || is_zero(log)) return true;
  }
  return holds_a_record(fd, bytes);
}

}  // namespace

JournalWipe::JournalWipe(const std::string& pool, Foreign foreign) : pool_(pool) {
  constexpr std::string_view kExpected =
      "expected a log of the pool's journal, or no file; move this file away or delete it; nothing was wiped";
  for (const std::string& path : journal_files_there(pool)) {
    RegularFile file = open_regular(path, O_RDWR | O_NOFOLLOW);
    if (!file.kind.empty()) throw usage_error("{}: {}, {}", path, file.why(), kExpected);
    if (!file.valid()) throw system_error("{}: the journal cannot be wiped: {}", path, file.why());
    if (foreign == Foreign::kRefused) refuse_foreign_file(file.status, path);
    if (flock(file.fd.get(), LOCK_EX | LOCK_NB) != 0) {
      throw system_error("{}: the journal is in use by another process: {}", path, errno_text(errno));
    }
    const auto bytes = static_cast<std::uint64_t>(status_of(file.fd.get(), path).st_size);
    if (!is_a_log(file.fd.get(), bytes)) {
      throw usage_error("{}: found a file that is not a journal's log, {}", path, kExpected);
    }
    logs_.push_back({path, std::move(file), bytes});
  }
}

WipedJournal JournalWipe::overwrite() {
  WipedJournal wiped;
  for (const Log& log : logs_) {
    overwrite_file(log.file.fd.get(), log.bytes, log.path);
    if (!still_named(log.path, log.file.status)) {
      throw system_error("{}: was overwritten, but not deleted: another file has this name now", log.path);
    }
    if (unlink(log.path.c_str()) != 0) {
      throw system_error("{}: was overwritten, but cannot be deleted: {}", log.path, errno_text(errno));
    }
    ++wiped.files;
    wiped.bytes += log.bytes;
  }
  if (wiped.files > 0) sync_folder_of(journal_log_path(pool_, 0), pool_);
  return wiped;
}

}  // namespace ringside
