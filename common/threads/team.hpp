// How the threads of a process share out one piece of work: cut it, take the pieces, wait until all are done. What is
// computed never depends on who took which piece.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ringside {

/// Used by one thread at a time, which takes pieces as well.
class Team {
 public:
  virtual ~Team() = default;

  /// Threads are numbered from 0; the one that calls `share` is 0.
  virtual int threads() const noexcept = 0;

  /// Into how many pieces `units` of work are to be cut, if a piece of `grain` units is worth being taken: at least 1,
  /// at most `units` (but 1 of 0).
  virtual std::uint64_t pieces(std::uint64_t units, std::uint64_t grain) const noexcept = 0;

  /// Calls work(piece, thread) once for each piece below `pieces`, in any order and at once in several threads, and
  /// returns when all are done. What a piece stored is visible to the caller then, and to the pieces of the next call.
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

/// Where piece `piece` of `pieces` begins among `units`; it ends where the next one begins.
constexpr std::uint64_t piece_begin(std::uint64_t units, std::uint64_t piece, std::uint64_t pieces) noexcept {
  return units / pieces * piece + units % pieces * piece / pieces;
}

/// As many threads as OpenMP has when it is made, and as many pieces as threads: piece p is thread p's, so that each
/// finds in its caches, and on its NUMA node, what it left there.
class OpenMpTeam final : public Team {
 public:
  OpenMpTeam() noexcept;
  int threads() const noexcept override { return threads_; }
  std::uint64_t pieces(std::uint64_t units, std::uint64_t grain) const noexcept override;

 private:
  void share_out(std::uint64_t pieces, Job job) noexcept override;

  int threads_;
};

}  // namespace ringside
