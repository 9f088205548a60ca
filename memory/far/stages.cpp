// SPDX-License-Identifier: BSD-3-Clause
#include "memory/far/stages.hpp"

#include <errno.h>
#include <linux/aio_abi.h>
#include <string.h>
#include <time.h>

#include "memory/far/write_behind.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

constexpr uint32_t kPartShift = kStageShift - 6;  // 64 parts of a block are the bits of a word

/// The parts of a block that overlap a range of the file.
uint64_t parts(uint32_t block, uint64_t offset, uint64_t bytes) {
  const uint64_t begin = static_cast<uint64_t>(block) << kStageShift, end = begin + kStageBytes;
  const uint64_t from = offset > begin ? offset : begin, to = offset + bytes < end ? offset + bytes : end;
  if (from >= to) return 0;
  const uint64_t first = (from - begin) >> kPartShift, last = (to - begin - 1) >> kPartShift;
  return (~uint64_t{0} >> (63 - (last - first))) << first;
}

}  // namespace

void Stages::start(int descriptor) noexcept {
  descriptor_ = descriptor;
  memory_ = static_cast<char*>(map_device_buffer(kStages * kStageBytes));
  if (memory_ == nullptr) return;
  for (uint32_t i = 0; i < kStages; ++i) {
    Stage& stage = stages_[i];
    stage.buffer = memory_ + i * kStageBytes;
    stage.context = 0;
    stage.block.store(kNoBlock);
    stage.phase.store(kEmpty);
    if (raw(SYS_io_setup, 1, as_long(&stage.context)) < 0) {
      stop();
      return;
    }
  }
}

void Stages::stop() noexcept {
  if (memory_ == nullptr) return;
  for (Stage& stage : stages_) {
    if (stage.context != 0) raw(SYS_io_destroy, static_cast<long>(stage.context));  // this waits for the stage's read
    stage.context = 0;
    stage.phase.store(kEmpty);
  }
  unmap_table(memory_, kStages * kStageBytes);
  memory_ = nullptr;
}

void Stages::forget() noexcept {
  memory_ = nullptr;  // the child has not inherited the memory
}

// Only the owner accesses the non-atomic fields. A thread that does not get a stage reads the file itself.
bool Stages::own(Stage& stage) const noexcept {
  uint32_t phase = stage.phase.load(std::memory_order_relaxed);
  if (phase == kOwned || !stage.phase.compare_exchange_strong(phase, kOwned)) return false;
  if (phase != kReading || finish(stage, false)) return true;
  stage.phase.store(kReading);
  return false;
}

void Stages::release(Stage& stage, Phase phase) const noexcept {
  if (phase == kEmpty) stage.block.store(kNoBlock);
  stage.phase.store(phase);
}

// Whether the read of an owned stage is complete. After a failed read, the stage has no block.
bool Stages::finish(Stage& stage, bool wait) const noexcept {
  io_event event{};
  const timespec now{};
  long got = 0;
  do {
    got = raw(SYS_io_getevents, static_cast<long>(stage.context), wait ? 1 : 0, 1, as_long(&event),
              wait ? 0 : as_long(&now));
  } while (got == -EINTR);
  if (got < 1 && !wait) return false;
  if (got < 1) die("cannot wait for a read of far memory (io_getevents)", got);
  // After an error, the caller reads the file itself, and that read reports the error.
  if (event.res != static_cast<int64_t>(kStageBytes)) stage.block.store(kNoBlock);
  return true;
}

void Stages::begin(uint32_t block, WriteBehind& writes) noexcept {
  bool there = false;
  for (Stage& stage : stages_) {
    const uint32_t has = stage.block.load(std::memory_order_relaxed);
    there = there || has == block;
    // The stream has passed this block; the rest of it was already in DRAM.
    if (has + kBlocksAhead + 1 == block && has != kNoBlock && own(stage)) release(stage, kEmpty);
  }
  if (there) return;
  // Takes an empty stage, or a stage that has not been used for a long time, so that blocks that other streams still
  // need are not overwritten.
  constexpr uint64_t kLongNs = 100'000'000;
  const uint64_t now = now_ns();
  Stage* found = nullptr;
  for (Stage& candidate : stages_) {
    if (candidate.phase.load(std::memory_order_relaxed) != kEmpty && now - candidate.used_ns.load() < kLongNs) continue;
    if (!own(candidate)) continue;
    found = &candidate;
    break;
  }
  if (found == nullptr) return;
  Stage& stage = *found;
  stage.taken = 0;
  stage.used_ns.store(now);
  // The order matters: a write that ends after the read began finds the block here and marks its part as stale.
  stage.stale.store(0);
  stage.block.store(block);
  // An earlier write that is not finished may reach the disk after this read, so its parts are stale. A write that
  // begins after this line finds the block.
  stage.stale.fetch_or(writes.held_parts(static_cast<uint64_t>(block) << kStageShift, kPartShift));
  iocb order{};
  order.aio_lio_opcode = IOCB_CMD_PREAD;
  order.aio_fildes = static_cast<uint32_t>(descriptor_);
  order.aio_buf = reinterpret_cast<uintptr_t>(stage.buffer);
  order.aio_nbytes = kStageBytes;
  order.aio_offset = static_cast<int64_t>(static_cast<uint64_t>(block) << kStageShift);
  iocb* orders[] = {&order};
  const bool reading = raw(SYS_io_submit, static_cast<long>(stage.context), 1, as_long(orders)) == 1;
  release(stage, reading ? kReading : kEmpty);
}

bool Stages::take(uint64_t offset, char* to, size_t bytes) noexcept {
  const auto block = static_cast<uint32_t>(offset >> kStageShift);
  if ((offset + bytes - 1) >> kStageShift != block) return false;
  for (Stage& stage : stages_) {
    if (stage.block.load() != block) continue;
    uint32_t phase = stage.phase.load();
    if ((phase != kReading && phase != kReady) || !stage.phase.compare_exchange_strong(phase, kOwned)) return false;
    if (phase == kReading) finish(stage, true);
    const bool good =
        stage.block.load() == block && (stage.stale.load() & parts(block, offset, static_cast<uint64_t>(bytes))) == 0;
    if (good) memcpy(to, stage.buffer + (offset & (kStageBytes - 1)), bytes);
    stage.taken += bytes;
    stage.used_ns.store(now_ns());
    release(stage, stage.taken >= kStageBytes ? kEmpty : kReady);
    return good;
  }
  return false;
}

void Stages::changed(uint64_t offset, uint64_t bytes) noexcept {
  if (!any()) return;
  for (Stage& stage : stages_) {
    const uint32_t block = stage.block.load();
    const uint64_t hit = block == kNoBlock ? 0 : parts(block, offset, bytes);
    if (hit != 0) stage.stale.fetch_or(hit);
  }
}

}  // namespace ringside::memory
