// SPDX-License-Identifier: BSD-3-Clause
// A team that grows while the other process waits: home threads on this process's cores, and guests on the cores that
// the other process lends (common/threads/core_loan, docs/inside/architecture.md). All threads take pieces from one
// range: home threads from its front, guests from its back.
#pragma once

#include <atomic>
#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

#include "common/threads/core_loan.hpp"
#include "common/threads/team.hpp"

namespace ringside {

class ElasticTeam final : public Team {
 public:
  /// home: this process's cores, at least one; the calling thread runs on home[0], and only this thread may call
  /// `share`. Starts a thread on each other home core, and a guest on each of the lender's cores that is not a home
  /// core and that this process may run on. If a guest cannot be started, the team works without it. Throws Error (exit
  /// code 3) if a home thread cannot be started on its core. lent_ns: grows by the working time of all guests.
  ElasticTeam(const std::vector<int>& home, CoreBorrower borrower, std::atomic<std::int64_t>& lent_ns);
  ~ElasticTeam() override;
  ElasticTeam(const ElasticTeam&) = delete;
  ElasticTeam& operator=(const ElasticTeam&) = delete;

  int threads() const noexcept override { return threads_; }
  std::uint64_t pieces(std::uint64_t units, std::uint64_t grain) const noexcept override;

  /// The number of usable cores of the lender when the team was made; it never grows.
  int guests() const noexcept { return threads_ - static_cast<int>(home_.size()); }

 private:
  enum class End { kFront, kBack };

  void share_out(std::uint64_t pieces, Job job) noexcept override;
  bool take(End end, std::uint32_t& piece) noexcept;
  template <class Continues>
  bool work(End end, int thread, const Continues& continues) noexcept;
  void start_home_threads();
  void start_guests();
  void be_home_thread(int thread, int& error, std::latch& started) noexcept;
  void run_guest(int thread) noexcept;
  bool move_to_lent_core(std::size_t index) noexcept;
  void end() noexcept;

  std::vector<int> home_;
  CoreBorrower borrower_;
  std::atomic<std::int64_t>& lent_ns_;
  int threads_;

  Job job_;  // changes only when no piece is left or in progress
  // alignas(64) gives each of these words its own cache line, because many threads write them.
  alignas(64) std::atomic<std::uint64_t> range_{
      0};  // pieces that no thread has taken: the low half is the first piece, the high half is 1 past the last piece
  alignas(64) std::atomic<std::uint64_t> done_{0};  // the number of completed pieces of the job
  alignas(64) std::atomic<std::uint32_t> jobs_{0};  // home threads sleep on this word
  std::atomic<bool> ended_{false};
  std::vector<std::thread> thread_;
};

}  // namespace ringside
