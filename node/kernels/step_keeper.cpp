// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/step_keeper.hpp"

#include <signal.h>

#include <filesystem>

#include "common/kernels/hash.hpp"
#include "common/platform/clock.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "node/benches/openmp_groups.hpp"

namespace ringside {
namespace {

/// Blocks every signal of this thread.
class SignalsLater {
 public:
  SignalsLater() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsLater() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsLater(const SignalsLater&) = delete;
  SignalsLater& operator=(const SignalsLater&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

RingShape slots_for(const Solver& solver) {
  const Schema schema = solver.variables();
  return RingShape::of(schema, catalogue_of(schema, solver.scalars()));
}

RingPool make_nameless_pool(const std::string& folder, const RingShape& shape, bool mapped) {
  const std::filesystem::path path =
      std::filesystem::path(folder) / (".ringside-calibrate-" + to_string(random_id()) + ".pool");
  const SignalsLater until_deleted;
  RingPool pool = RingPool::create(path, shape, kCalibrationSlots);
  std::error_code none;
  std::filesystem::remove(path, none);
  if (mapped) pool.prefault();
  return pool;
}

StepKeeper::StepKeeper(RingPool& pool, const Solver& solver, RunDescription run, Durability durability, Team& team)
    : pool_(pool),
      durability_(durability),
      writer_(pool.ring(), pool.persistence(), pool.storage(), durability),
      reducer_(pool.ring().geometry().schema(), team) {
  writer_.share_among(team);
  writer_.respect(pool.leases());  // as the analyzer does; takes two system calls per step
  run.run_id = random_id();
  run.schema_id = pool.ring().geometry().schema().id();
  writer_.begin_run(run, catalogue_of(pool.ring().geometry().schema(), solver.scalars()));
}

/// Waits until the oldest slot may be replaced. This is the part of a commit that waits for a disk. Returns false if a
/// sync failed.
bool StepKeeper::wait_for_disk() noexcept {
  if (!needs_sync(pool_.storage(), durability_)) return true;
  spin_until([&] {
    return writer_.sync_error() != 0 || writer_.next_seq() - 1 - writer_.persisted() + 2 <= kCalibrationSlots;
  });
  return writer_.sync_error() == 0;
}

bool StepKeeper::settle() noexcept {
  if (!needs_sync(pool_.storage(), durability_)) return true;
  spin_until([&] { return writer_.sync_error() != 0 || writer_.persisted() + 1 >= writer_.next_seq(); });
  return writer_.sync_error() == 0;
}

bool StepKeeper::keep(const void* payload, Reduce reduce, int passes, StepTimes& times) noexcept {
  if (!wait_for_disk()) return false;
  const std::int64_t begun = now_ns();
  if (writer_.begin() != CommitStatus::kOk) return false;
  const std::int64_t copy_begin = now_ns();
  writer_.copy(payload, {.descriptor = step_}, reduce == Reduce::kOnTheWay ? &reducer_ : nullptr);
  const std::int64_t copied = now_ns();
  if (writer_.commit() != CommitStatus::kOk) return false;
  writer_.end_lease();
  const std::int64_t committed = now_ns();
  writer_.store_results(reduce == Reduce::kOnTheWay
                            ? reducer_.finish(writer_.payload(), passes)
                            : reducer_.reduce(writer_.payload(), writer_.previous_payload(), passes));
  times = {.transfer_s = seconds(copied - copy_begin),
           .commit_s = seconds((copy_begin - begun) + (committed - copied)),
           .analyze_s = seconds(now_ns() - committed)};
  writer_.choose_next();
  ++step_.step;
  ++step_.iteration;
  return true;
}

}  // namespace ringside
