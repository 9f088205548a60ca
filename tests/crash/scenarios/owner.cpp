// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/owner.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

#include "analyzer/ring/ring_creation.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/threads/openmp_team.hpp"

namespace ringside::crash {
namespace {

/// Assigns the pieces of the work to threads at random, several pieces to a thread and in any order. Such an assignment
/// happens in practice if the number of threads changes (common/threads/elastic_team.hpp). The image after a crash must
/// not depend on which thread stored which word.
class ScatteredTeam final : public Team {
 public:
  ScatteredTeam(int threads, std::uint64_t seed) noexcept : threads_(threads), random_(seed) {}

  int threads() const noexcept override { return threads_; }
  std::uint64_t pieces(std::uint64_t units, std::uint64_t) const noexcept override {
    return std::clamp<std::uint64_t>(units, 1, kMostPieces);
  }

 private:
  static constexpr std::uint64_t kMostPieces = 64;

  void share_out(std::uint64_t pieces, Job job) noexcept override {
    std::array<int, kMostPieces> thread_of;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      thread_of[piece] = static_cast<int>(random_.below(static_cast<std::uint64_t>(threads_)));
    }
#pragma omp parallel num_threads(threads_)
    for (std::uint64_t piece = pieces; piece-- > 0;) {
      if (thread_of[piece] == omp_get_thread_num()) job.call(job.work, piece, omp_get_thread_num());
    }
  }

  int threads_;
  Random random_;
};

std::unique_ptr<Team> make_team(const Setting& setting, std::uint64_t seed) {
  if (setting.scattered) return std::make_unique<ScatteredTeam>(setting.threads, seed);
  // Only the copy uses several threads: all other recorded events happen in the calling thread.
  omp_set_num_threads(setting.threads);
  auto team = std::make_unique<OpenMpTeam>();
  omp_set_num_threads(1);
  return team;
}

}  // namespace

Owner::Owner(PoolBytes& pool, Trace& trace, const Setting& setting, Published& published, std::uint64_t seed,
             DrawnLeases* leases)
    : setting_(setting),
      published_(published),
      random_(seed),
      persistence_(pool, trace),
      team_(make_team(setting, seed)),
      leases_(leases),
      disregarded_(setting.slots, 0) {
  const WritableRing ring = WritableRing::parse(pool.file(), "image");
  persistence_.enter(Phase::kMend);
  mend_superblocks(pool.file(), ring, persistence_);
  mend_run_entries(ring, persistence_);
  writer_ = std::make_unique<RingWriter>(WritableRing::parse(pool.file(), "image"), persistence_, setting.storage,
                                         setting.durability);
  writer_->share_among(*team_);
  writer_->delay_syncs({});  // the seed, not the time, decides when a sync begins
  if (leases_ != nullptr) writer_->respect(*leases_);
}

Owner::~Owner() {
  persistence_.abandon();
}

void Owner::begin_run(std::uint32_t run, std::uint64_t from) {
  while (syncing_) end_sync();
  persistence_.enter(Phase::kBeginRun);
  persistence_.acknowledge({.kind = EventKind::kRunBegins, .run = run});
  if (from != 0) persistence_.acknowledge({.kind = EventKind::kGoingBack, .run = run, .iteration = from});
  handed_over_.assign(ring().geometry().payload_bytes(), {});
  const std::optional<KeptSlot> intact =
      writer_->begin_run(published_.run(run), published_.catalogue(run), handed_over_.data(), from);
  if (from != 0) persistence_.acknowledge({.kind = EventKind::kWentBack, .run = run, .iteration = from});

  // The writer keeps every iterate up to the newest intact one.
  const std::uint64_t intact_seq = intact ? intact->header.commit_seq : 0;
  holds_.assign(setting_.slots, 0);
  for (const KeptSlot& kept : recover(ring()).kept) {
    if (kept.header.commit_seq <= intact_seq) holds_[kept.slot] = kept.header.commit_seq;
  }
  run_ = run;
  ahead_.reset();
  newest_ = intact && intact->header.run_id == run_id_of(run) ? intact->header.iteration : 0;
  requested_ = writer_->persisted();
  syncing_.reset();

  // From now on, the iterate from which the owner continues counts as committed, even if the previous owner was killed
  // before it acknowledged the commit.
  if (newest_ != 0) {
    persistence_.acknowledge({.kind = EventKind::kCommitted, .run = run, .value = intact_seq, .iteration = newest_});
  }
  persistence_.acknowledge({.kind = EventKind::kRunBegun, .run = run});
  persistence_.acknowledge({.kind = EventKind::kPersisted, .value = writer_->persisted()});
}

void Owner::clear() {
  while (syncing_) end_sync();
  persistence_.enter(Phase::kClear);
  persistence_.acknowledge({.kind = EventKind::kClearing});
  writer_->clear();
  disregarded_.assign(disregarded_.size(), 1);
  persistence_.acknowledge({.kind = EventKind::kCleared});
  newest_ = 0;
}

void Owner::end_sync() {
  persistence_.end_sync();
  while (writer_->persisted() < *syncing_) std::this_thread::yield();
  const std::uint64_t persisted = *syncing_;
  syncing_.reset();
  if (requested_ > persisted) {
    persistence_.await_sync();
    syncing_ = requested_;
  }
  persistence_.acknowledge({.kind = EventKind::kPersisted, .value = persisted});
}

void Owner::maybe_end_sync() {
  if (syncing_ && random_.one_in(6)) end_sync();
}

void Owner::hold(std::uint32_t slot) {
  if (holds_[slot] == 0 || !leases_->hold(slot)) return;
  persistence_.acknowledge({.kind = EventKind::kHeld, .value = holds_[slot]});
}

/// Implements exactly the rules of docs/inside/library.md, "Leases". Returns the victim, if no lease has to be broken
/// to overwrite it.
std::optional<std::uint32_t> Owner::free_victim() {
  std::vector<std::uint32_t> candidates(holds_.size());
  std::iota(candidates.begin(), candidates.end(), 0);
  std::stable_sort(candidates.begin(), candidates.end(), [&](auto a, auto b) { return holds_[a] < holds_[b]; });
  candidates.resize(candidates.size() - 2);
  if (setting_.syncs()) {
    std::erase_if(candidates, [&](auto slot) { return holds_[slot] != 0 && holds_[slot] >= writer_->persisted(); });
  }
  for (const std::uint32_t slot : candidates) {
    if (leases_ == nullptr || !leases_->is_held(slot)) {
      disregarded_[slot] = 0;
      return slot;
    }
    if (disregarded_[slot] != 0) return slot;
  }
  return std::nullopt;
}

std::uint32_t Owner::expected_victim() {
  if (ahead_) return *std::exchange(ahead_, std::nullopt);
  if (const auto victim = free_victim()) return *victim;
  const auto oldest = static_cast<std::uint32_t>(std::min_element(holds_.begin(), holds_.end()) - holds_.begin());
  disregarded_[oldest] = 1;
  return oldest;
}

void Owner::commit_next() {
  const std::uint64_t iteration = newest_ + 1;
  const std::uint64_t oldest = *std::min_element(holds_.begin(), holds_.end());
  persistence_.enter(Phase::kBegin);
  persistence_.acknowledge({.kind = EventKind::kPublished, .run = run_, .iteration = iteration});
  while (syncing_ && oldest != 0 && writer_->persisted() <= oldest) end_sync();  // otherwise `begin` would wait
  std::uint64_t& victim = holds_[expected_victim()];
  if (victim != 0) persistence_.acknowledge({.kind = EventKind::kTaking, .value = victim});
  writer_->begin();
  maybe_end_sync();

  persistence_.enter(Phase::kCopy);
  if (setting_.reduces_on_the_way && !reducer_) {
    reducer_ = std::make_unique<StepReducer>(schema_of(setting_), *team_);
  }
  writer_->copy(published_.payload(run_, iteration), slot_step_of(run_, iteration), reducer_.get());
  check_reductions();
  persistence_.join_threads(random_);
  maybe_end_sync();

  persistence_.enter(Phase::kCommit);
  writer_->commit();
  newest_ = iteration;
  victim = requested_ = writer_->committed();
  if (setting_.syncs() && !syncing_) {
    persistence_.await_sync();
    syncing_ = requested_;
  }
  persistence_.acknowledge(
      {.kind = EventKind::kCommitted, .run = run_, .value = writer_->committed(), .iteration = iteration});
  maybe_end_sync();

  persistence_.enter(Phase::kReductions);
  writer_->store_results(published_.results(run_, iteration));
  persistence_.acknowledge({.kind = EventKind::kReduced, .run = run_, .iteration = iteration});
  maybe_end_sync();
  writer_->end_lease();
  if (random_.one_in(2)) {
    ahead_ = free_victim();
    writer_->choose_next();
  }
}

void Owner::check_reductions() {
  if (!reducer_) return;
  StepReducer reducer(schema_of(setting_));
  const auto expected = reducer.reduce(writer_->payload(), writer_->previous_payload(), 1);
  if (!std::ranges::equal(reducer_->finish(writer_->payload(), 1), expected)) {
    throw std::logic_error("reduced on the way, " + to_string(setting_) + ": not what is in the slot");
  }
}

void Owner::finish() {
  persistence_.enter(Phase::kFinish);
  while (syncing_) end_sync();
  writer_->finish();
  persistence_.acknowledge({.kind = EventKind::kFinished});
}

}  // namespace ringside::crash
