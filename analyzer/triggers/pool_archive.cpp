// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/triggers/pool_archive.hpp"

#include <pthread.h>
#include <sched.h>

#include <exception>

#include "common/program/log.hpp"
#include "common/triggers/pool_freeze.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kSmallBytes = std::uint64_t{1} << 20;  // copied in some 0.1 ms
constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};  // instead of a step's slot: no step follows

RingOptions archive_options(RingOptions ring, std::uint64_t bytes, const OfferedRun& offered, const Catalogue& catalogue,
                            const RingGeometry& geometry) {
  ring.pool = archive_path(ring.pool);
  ring.slots = geometry.slot_count();
  ring.slots_given = bytes != 0;
  if (bytes == 0) return ring;
  const RingShape shape = RingShape::of(offered.schema, catalogue);
  // Finds the most slots that fit; there are at most 1022 numbers to try.
  std::uint32_t slots = kMaxSlots;
  while (slots >= kMinSlots && RingPool::file_bytes(shape, slots) > bytes) --slots;
  if (slots < kMinSlots) {
    throw usage_error("--archive-size: found {} bytes, expected room for at least {} steps: {} bytes", bytes, kMinSlots,
                      RingPool::file_bytes(shape, kMinSlots));
  }
  ring.slots = slots;
  return ring;
}

}  // namespace

PoolArchive::PoolArchive(const RingOptions& ring, std::uint64_t bytes, const OfferedRun& offered, PoolUse use,
                         const Catalogue& catalogue, RingWriter& from)
    : path_(archive_path(ring.pool)),
      from_(from),
      admission_(admit(archive_options(ring, bytes, offered, catalogue, from.ring().geometry()), offered, use)),
      ring_(admission_.pool.ring(), admission_.pool.persistence(), admission_.pool.storage(), ring.durability),
      steps_(kRoom) {
  ring_.share_among(alone_);
  ring_.respect(admission_.pool.leases());
  try {
    if (admission_.start == RunStart::kCleared) ring_.clear();
    ring_.begin_run(offered.run, catalogue);
  } catch (const Error& error) {
    throw Error(error.code(), formatted("{}: {}", path_, error.what()));
  }
  admission_.pool.survive_faults();
  thread_ = std::jthread([this] { run(); });
}

PoolArchive::~PoolArchive() {
  finish();
}

void PoolArchive::keep(const RingWriter::Committed& step) noexcept {
  const std::uint64_t waiting = named_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_acquire);
  if (waiting == kRoom || failed_.load(std::memory_order_relaxed)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  from_.hold(step.slot);
  name(step);
  // Without this, small steps would be overwritten before the archive's thread is scheduled, if that thread shares this
  // core.
  if (from_.ring().geometry().payload_bytes() <= kSmallBytes) sched_yield();
}

void PoolArchive::name(const RingWriter::Committed& step) noexcept {
  const std::uint64_t named = named_.load(std::memory_order_relaxed);
  steps_[named % kRoom] = step;
  // Release: a thread that reads the new count also reads the step.
  named_.store(named + 1, std::memory_order_release);
  named_.notify_one();
}

void PoolArchive::run() noexcept {
  pthread_setname_np(pthread_self(), "archive");
  for (std::uint64_t taken = 0;;) {
    named_.wait(taken, std::memory_order_acquire);
    const RingWriter::Committed step = steps_[taken % kRoom];
    const bool is_end = step.slot == kNoSlot;
    if (!is_end) {
      (copy(step) ? kept_ : lost_).fetch_add(1, std::memory_order_release);
      from_.let_go(step.slot);
    }
    taken_.store(++taken, std::memory_order_release);
    taken_.notify_one();
    if (is_end) return;
  }
}

bool PoolArchive::copy(const RingWriter::Committed& step) noexcept try {
  const RingView& from = from_.ring();
  const StepWithScalars scalars = from.step(step.slot);
  SlotResults results;
  const bool has_results = from.results(step.slot, step.header, results) == ResultsState::kRecorded;
  if (ring_.begin() != CommitStatus::kOk) throw system_error("{}", errno_text(ring_.sync_error()));
  ring_.copy(from.payload(step.slot), scalars);
  // The copied bytes belong to the step only if its slot still holds this step. Otherwise the archive's slot stays
  // empty and is used next.
  if (!from.still_holds(step.slot, step.header)) return false;
  if (ring_.commit() != CommitStatus::kOk) throw system_error("{}", errno_text(ring_.sync_error()));
  ring_.end_lease();
  if (has_results) ring_.store_results(results.words);
  return true;
} catch (const std::exception& error) {
  if (!failed_.exchange(true)) log_error("event=archive_failed pool={} text=\"{}\"", path_, error.what());
  return false;
}

std::optional<Error> PoolArchive::finish() noexcept {
  if (!thread_.joinable()) return std::nullopt;
  for (std::uint64_t taken = taken_.load(); named_.load() - taken == kRoom; taken = taken_.load()) taken_.wait(taken);
  name({.slot = kNoSlot, .header = {}});
  thread_.join();
  admission_.pool.note_truncation();
  const int error = ring_.finish();
  if (error == 0) return std::nullopt;
  return system_error("{}: writing to the disk failed ({}): the archive is not complete", path_, errno_text(error));
}

}  // namespace ringside
