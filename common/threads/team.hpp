// SPDX-License-Identifier: BSD-3-Clause
// How the threads of a process share one job: it is divided into pieces, the threads take pieces, and the caller waits
// until all are done. No result depends on which thread took which piece.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ringside {

/// Only one thread at a time may use it; that thread also takes pieces.
class Team {
 public:
  virtual ~Team() = default;

  /// The number of threads. Threads are numbered from 0; the thread that calls `share` is 0.
  virtual int threads() const noexcept = 0;

  /// The number of pieces into which `units` of work are divided, if a piece of `grain` units is worth taking: at least
  /// 1, at most `units` (1 if `units` is 0).
  virtual std::uint64_t pieces(std::uint64_t units, std::uint64_t grain) const noexcept = 0;

  /// Calls work(piece, thread) once for each piece below `pieces`, in any order and in several threads at once, and
  /// returns when all are done. Each piece's stores are then visible to the caller and to the pieces of the next call.
  template <class Work>
  void share(std::uint64_t pieces, const Work& work) noexcept {
    static_assert(std::is_nothrow_invocable_v<const Work&, std::uint64_t, int>, "declare the work noexcept");
    share_out(pieces, {&work, [](const void* it, std::uint64_t piece, int thread) noexcept {
                         (*static_cast<const Work*>(it))(piece, thread);
                       }});
  }

 protected:
  struct Job {
    const void* work = nullptr;
    void (*call)(const void* work, std::uint64_t piece, int thread) noexcept = nullptr;
  };
  virtual void share_out(std::uint64_t pieces, Job job) noexcept = 0;
};

/// The first unit of piece number `piece`, if `units` units are divided into `pieces` pieces. A piece ends where the
/// next one begins.
constexpr std::uint64_t piece_begin(std::uint64_t units, std::uint64_t piece, std::uint64_t pieces) noexcept {
  return units / pieces * piece + units % pieces * piece / pieces;
}

/// A team that consists of the calling thread only.
class SingleThread final : public Team {
 public:
  int threads() const noexcept override { return 1; }
  std::uint64_t pieces(std::uint64_t, std::uint64_t) const noexcept override { return 1; }

 private:
  void share_out(std::uint64_t pieces, Job job) noexcept override {
    for (std::uint64_t piece = 0; piece < pieces; ++piece) job.call(job.work, piece, 0);
  }
};

}  // namespace ringside
