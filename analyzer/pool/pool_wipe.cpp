// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/pool_wipe.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include "analyzer/pool/pool_file.hpp"
#include "common/files/new_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

// The first two pages identify a pool. They are overwritten after all other pages. Their first word is overwritten last
// of all, with one store.
constexpr std::uint64_t kHeadBytes = 2 * kPageBytes;
constexpr std::uint64_t kFirstWordBytes = 8;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
// A sync follows each part of this size, so that the bytes that are reported as done are on the medium.
constexpr std::uint64_t kPartBytes = std::uint64_t{8} << 20;

bool is_zero(std::span<const std::byte> bytes) {
  // The first byte is zero, and each byte equals the one before.
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// Whether the file was left by a wipe that was interrupted within the head: it has libpmemobj's first word, and zeros
/// after the head.
bool is_wiped_behind_its_head(std::span<const std::byte> file) {
  return file.size() > kHeadBytes && is_pmemobj_pool(file) && is_zero(file.subspan(kHeadBytes));
}

/// Throws Error (exit code 2) unless this is a Ringside pool, in any state.
void demand_a_pool(std::span<const std::byte> file, const std::string& name) {
  if (names_our_layout(file) || is_wiped_behind_its_head(file)) return;
  try {
    RingView::parse(file, name);
  } catch (const UnfinishedPoolError&) {
  } catch (const Error& error) {
    if (error.code() != ExitCode::kDamaged) throw;
  }
}

void require_deletable_name(const fs::path& path, const std::string& name) {
  const std::string folder = folder_of(path.string());
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  throw system_error("{}: nothing was wiped: the pool could not be deleted from its folder: {}", name,
                     errno_text(errno));
}

}  // namespace

PoolWipe::PoolWipe(const fs::path& path, Foreign foreign) : name_(path.string()), given_(path), file_(real_path(path)) {
  if (foreign == Foreign::kRefused) refuse_foreign_links(path);
  fd_ = open_pool_file(file_.string(), O_RDWR);
  lock_named_or_throw(fd_.get(), file_, name_);
  const struct stat status = status_of(fd_.get(), name_);
  if (foreign == Foreign::kRefused) {
    refuse_foreign_links(path, status);  // checked again: names may have been exchanged before the file was open
    refuse_foreign_file(status, name_);
  }
  if (status.st_size == 0) throw usage_error("{}: an empty file, not a Ringside pool", name_);
  demand_a_pool(Look(fd_.get(), name_).file(), name_);
  require_deletable_name(file_, name_);
  if (fs::is_symlink(given_)) require_deletable_name(given_, name_);
  bytes_ = static_cast<std::uint64_t>(status.st_size);
  other_names_ = status.st_nlink - 1;
}

void PoolWipe::overwrite(const std::function<void(std::uint64_t bytes_done)>& progress) {
  forget_slots();
  const std::uint64_t head = std::min(kHeadBytes, bytes_);
  for (std::uint64_t end = bytes_; end > head;) {
    const std::uint64_t begin = std::max(head, (end - 1) / kPartBytes * kPartBytes);
    write_zeros(begin, end);
    sync();
    end = begin;
    progress(bytes_ - end);
  }
  const std::uint64_t word = std::min(kFirstWordBytes, bytes_);
  write_zeros(word, head);
  sync();
  write_zeros(0, word);
  sync();
  progress(bytes_);
}

void PoolWipe::remove() {
  if (!still_named(file_, status_of(fd_.get(), name_))) {
    throw system_error("{}: was overwritten, but not deleted: another file has this name now", name_);
  }
  if (unlink(file_.c_str()) != 0) {
    throw system_error("{}: was overwritten, but cannot be deleted: {}", name_, errno_text(errno));
  }
  sync_folder_of(file_, name_);
  std::error_code ignored;
  if (!fs::is_symlink(given_, ignored)) return;
  if (unlink(given_.c_str()) != 0) {
    throw system_error("{}: the pool is gone, but the link to it cannot be deleted: {}", name_, errno_text(errno));
  }
  sync_folder_of(given_, name_);
}

/// Sets commit_seq of every slot to 0. If both superblocks of a ring are damaged, the headers cannot be found, and
/// nothing changes.
void PoolWipe::forget_slots() {
  try {
    const Look look(fd_.get(), name_);
    const RingView ring = RingView::parse(look.file(), name_);
    for (const SlotPlace& place : ring.geometry().slots) {
      const std::uint64_t word = place.meta_offset + offsetof(SlotHeader, commit_seq);
      write_zeros(word, word + sizeof(SlotHeader::commit_seq));
    }
  } catch (const Error& error) {
    if (error.code() == ExitCode::kSystem) throw;
  }
  _mm_sfence();  // on persistent memory write(2) bypasses the cache: the zeroed words must precede other zeros
}

void PoolWipe::write_zeros(std::uint64_t begin, std::uint64_t end) {
  static constexpr std::array<std::byte, kBlockBytes> kZeros{};
  while (begin < end) {
    const std::size_t bytes = std::min<std::uint64_t>(end - begin, kBlockBytes);
    const std::size_t written = write_whole(fd_.get(), std::span(kZeros).first(bytes), begin);
    begin += written;
    if (written < bytes) {
      throw system_error("{}: cannot be overwritten at byte {}: {}; the bytes before it are still there", name_, begin,
                         errno_text(errno));
    }
  }
}

void PoolWipe::sync() {
  if (fsync(fd_.get()) == 0) return;
  throw system_error("{}: was overwritten, but could not be synced to its disk: {}; it was not deleted", name_,
                     errno_text(errno));
}

}  // namespace ringside
