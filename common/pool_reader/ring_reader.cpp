// SPDX-License-Identifier: BSD-3-Clause
#include "common/pool_reader/ring_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/files/creation_mark.hpp"
#include "common/files/lock_holder.hpp"
#include "common/files/regular_file.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/pool_look.hpp"
#include "common/text/formatted.hpp"

namespace ringside {

namespace {

UniqueFd open_for_reading(const std::string& name) {
  UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // opening a FIFO must not block
  if (fd.valid()) return fd;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) {
    throw MissingPoolError(ExitCode::kUsage, formatted("{}: {}", name, errno_text(error)));
  }
  throw system_error("{}: cannot be read: {}{}", name, errno_text(error), owner_and_mode(name));
}

/// The slot that `precedes` all others, among the committed slots that `matches` accepts.
template <class Matches, class Precedes>
std::optional<KeptSlot> first_of(const RingView& ring, const Matches& matches, const Precedes& precedes) noexcept {
  std::optional<KeptSlot> first;
  for (std::uint32_t slot = 0; slot < ring.geometry().slot_count(); ++slot) {
    const SlotReading reading = ring.slot(slot);
    if (reading.state != SlotState::kCommitted || !matches(reading.header.commit_seq)) continue;
    if (!first || precedes(reading.header.commit_seq, first->header.commit_seq)) first = KeptSlot{slot, reading.header};
  }
  return first;
}

std::optional<KeptSlot> newest(const RingView& ring) noexcept {
  return first_of(
      ring, [](std::uint64_t) { return true; }, std::greater<>());
}

std::optional<KeptSlot> kept_as(const RingView& ring, std::uint64_t commit_seq) noexcept {
  return first_of(
      ring, [=](std::uint64_t seq) { return seq == commit_seq; }, std::less<>());
}

std::optional<KeptSlot> oldest_after(const RingView& ring, std::uint64_t commit_seq) noexcept {
  return first_of(
      ring, [=](std::uint64_t seq) { return seq > commit_seq; }, std::less<>());
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

// A reader may look at a pool at any moment while another process creates it. Therefore the result counts only if no
// process was making the file when the look began. A file is made only once.
RingReader RingReader::open(const std::filesystem::path& path, std::chrono::milliseconds patience, StopFlag stop) {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  const std::string name = path.string();
  const auto give_up = std::chrono::steady_clock::now() + patience;
  UniqueFd made;  // the file whose creation has ended; kept open, so that its inode number is not reused
  for (;;) {
    UniqueFd fd = open_for_reading(name);
    const bool is_final = made.valid() && same_file(status_of(fd.get(), name), status_of(made.get(), name));
    try {
      RingReader reader = look_at(fd.get(), path);
      if (is_final || (reader.ring().superblock_intact(0) && reader.ring().superblock_intact(1))) {
        reader.leases_ = std::make_unique<ReaderLeases>(std::move(fd), reader.ring().geometry().slot_count());
        return reader;
      }
    } catch (const UnfinishedPoolError&) {
      // A pool that is being wiped also looks unfinished.
      if (is_final && flock_holder(status_of(fd.get(), name))) throw in_use(name);
      if (is_final) throw;
    } catch (const Error&) {
      if (is_final) throw;
    }
    if (!is_being_made(fd.get())) {
      made = std::move(fd);
      continue;
    }
    if (std::chrono::steady_clock::now() >= give_up) throw being_made(name);
    if (stop.is_set()) throw Error(ExitCode::kInterrupted, "interrupted: `stop` is set");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

RingReader RingReader::look_at(int fd, const std::filesystem::path& path) {
  const std::string name = path.string();
  const struct stat status = status_of(fd, name);
  if (S_ISDIR(status.st_mode)) throw usage_error("{}: is a directory; a pool is a file", name);
  if (!S_ISREG(status.st_mode)) throw usage_error("{}: not a regular file; expected a pool", name);
  if (status.st_size == 0) throw empty_pool_file(name);

  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) throw system_error("{}: cannot be mapped: {}", name, errno_text(errno));
  RingReader reader;
  reader.path_ = path;
  reader.mapping_ =
      std::shared_ptr<const std::byte>(static_cast<const std::byte*>(mapped),
                                       [bytes](const std::byte* at) { munmap(const_cast<std::byte*>(at), bytes); });
  reader.watched_ = std::make_shared<WatchedMapping>(name, fd, mapped, bytes);
  const std::span<const std::byte> file(static_cast<const std::byte*>(mapped), bytes);
  fetch_front(file);
  reader.ring_ = std::make_unique<RingView>(RingView::parse(file, name));
  fetch_headers(file, reader.ring_->geometry());
  reader.storage_ = storage_of(fd, name);
  return reader;
}

void RingReader::check_intact() const {
  if (!watched_->intact()) throw truncated();
}

Error RingReader::truncated() const {
  return damage_error("{}: was truncated while it was in use; expected a file that keeps its size", path_.string());
}

std::optional<SlotUse> RingReader::use(std::uint32_t slot) const noexcept {
  const int fd = leases_->file();
  if (!has_leases(fd, ring_->geometry().slot_count(), Lease::kExclusive)) return std::nullopt;
  return use_of(fd, slot);
}

std::optional<KeptSlot> RingReader::find(std::uint64_t commit_seq) const noexcept {
  return commit_seq == kNewestCommit ? newest(*ring_) : kept_as(*ring_, commit_seq);
}

HoldOutcome RingReader::hold(std::uint64_t commit_seq, HeldStep& step) const noexcept {
  // A follower that gave up at once would miss the step. If the newest step is wanted, a step that will be free soon is
  // awaited although a newer one is committed meanwhile: in a run without pauses, the newest step is usually locked.
  constexpr std::chrono::microseconds kFirstPause{20}, kLastPause{1000};
  const auto give_up = std::chrono::steady_clock::now() + kMostHoldWait;
  std::optional<KeptSlot> found = find(commit_seq);
  for (std::chrono::microseconds pause = kFirstPause; found; pause = std::min(2 * pause, kLastPause)) {
    const HoldOutcome outcome = hold(*found, step);
    if (outcome != HoldOutcome::kOverwritten) return outcome;
    const bool waits = frees_soon(*found);
    if (!waits && commit_seq != kNewestCommit) return outcome;
    if (std::chrono::steady_clock::now() >= give_up) return outcome;
    std::this_thread::sleep_for(pause);
    if (!waits) found = find(commit_seq);
  }
  return HoldOutcome::kNotKept;
}

/// Whether the analyzer will probably unlock the step's slot before it overwrites the step. After a commit, the
/// analyzer keeps the slot of the newest step until it has released the producer's buffer: for microseconds, or longer
/// if it is interrupted. In a run without pauses, it locks several slots together for a short time, most of them
/// with the newest steps. If it has locked a single older slot, the next step will overwrite this slot.
bool RingReader::frees_soon(const KeptSlot& kept) const noexcept {
  if (!ring_->still_holds(kept.slot, kept.header)) return false;
  const std::optional<KeptSlot> newest = find(kNewestCommit);
  if (newest && newest->header.commit_seq == kept.header.commit_seq) return true;
  return written_together(leases_->file(), kept.slot) != 1;  // 0: it was unlocked meanwhile
}

HoldOutcome RingReader::hold(const KeptSlot& kept, HeldStep& step) const noexcept {
  switch (leases_->take(kept.slot)) {
    case LeaseStatus::kTaken: break;
    case LeaseStatus::kHeld: return HoldOutcome::kOverwritten;
    case LeaseStatus::kUnavailable: return HoldOutcome::kNoLeases;
  }
  HeldStep held(*ring_, *leases_, kept.slot, kept.header);
  if (held.check() != HeldStatus::kOk) return HoldOutcome::kOverwritten;
  step = std::move(held);
  return HoldOutcome::kHeld;
}

HeldStatus RingReader::read_through(const KeptSlot& kept, std::size_t variable, std::uint64_t begin, std::uint64_t end,
                                    const TakeBytes& take) const {
  const std::string name = path_.string();
  check_intact();
  const RingGeometry& geometry = ring_->geometry();
  const VariablePlace& place = geometry.schema().place(variable);
  const std::span<const std::uint64_t> stored = ring_->chunk_hashes(kept.slot);
  const std::vector<std::uint64_t> expected(stored.begin(), stored.end());
  bool intact = payload_hash(expected, ring_->step(kept.slot), geometry.step_bytes()) == kept.header.payload_hash;

  // Read through a buffer, because the hashed bytes may exceed the variable by up to 7 bytes.
  std::vector<std::byte> chunk(geometry.chunk_bytes);
  for (std::uint64_t c = geometry.chunks.first_of(variable); c < geometry.chunks.end_of(variable) && intact; ++c) {
    const PayloadParts::Part part = geometry.chunks[c];
    if (part.in_variable + part.bytes <= begin || part.in_variable >= end) continue;
    const std::uint64_t from = geometry.slots[kept.slot].payload_offset + part.offset;
    if (read_whole(leases_->file(), std::span(chunk).first(part.bytes), from) < part.bytes) {
      throw errno == 0 ? truncated() : system_error("{}: cannot be read: {}", name, errno_text(errno));
    }
    intact = hash64(chunk.data(), part.bytes) == expected[c];
    const std::uint64_t wanted = std::min(part.bytes, place.bytes - part.in_variable);
    take(part.in_variable, std::span(chunk).first(wanted));
  }
  if (!ring_->still_holds(kept.slot, kept.header)) return HeldStatus::kOverwritten;
  return intact ? HeldStatus::kOk : HeldStatus::kDamaged;
}

HeldStatus RingReader::copy(const KeptSlot& kept, std::size_t variable, void* to) const {
  return read_through(kept, variable, [to](std::uint64_t from, std::span<const std::byte> bytes) {
    std::memcpy(static_cast<std::byte*>(to) + from, bytes.data(), bytes.size());
  });
}

std::optional<KeptSlot> RingReader::next(std::uint64_t after_commit, std::chrono::nanoseconds timeout,
                                         StopFlag stop) const noexcept {
  constexpr std::chrono::microseconds kFirstPause{50};
  constexpr std::chrono::microseconds kLongestPause{2000};
  const auto give_up = std::chrono::steady_clock::now() + timeout;
  for (std::chrono::nanoseconds pause = kFirstPause;;
       pause = std::min<std::chrono::nanoseconds>(2 * pause, kLongestPause)) {
    if (const std::optional<KeptSlot> found = oldest_after(*ring_, after_commit)) return found;
    const auto left = give_up - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0) || stop.is_set() || !watched_->intact()) return std::nullopt;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
  }
}

}  // namespace ringside
