// SPDX-License-Identifier: BSD-3-Clause
// Notes that remain when a plug-in ends the analyzer: which thread was in which plug-in, and how and how often the
// process ended. The notes are in a file beside the analyzer's socket, in a shared mapping, so that the next analyzer
// can read them, no matter how this one ended. The notes are valid for one run of the solver and contain no user data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/reductions/plug_ins/plug_in.hpp"

namespace ringside {

/// The path of the file with the notes is the path of the analyzer's socket with this ending.
inline constexpr const char* kPlugInNotesSuffix = ".plug-ins";

/// After this number of deaths in a run, a plug-in is left out.
inline constexpr std::uint32_t kMostPlugInDeaths = 2;

/// One thread's state: the plug-in in which the thread is, and the number of calls that the thread has begun. Each
/// thread has a cache line of its own (64 bytes).
struct alignas(64) PlugInCell {
  std::atomic<std::uint32_t> plug_in{0};  // the plug-in's index + 1; 0: in no plug-in
  std::uint32_t unused = 0;
  std::atomic<std::uint64_t> calls{0};
};

/// How an analyzer ended inside a plug-in.
enum class PlugInEnd : std::uint32_t {
  kUnknown = 0,  // the analyzer was killed from outside, or by something that leaves no note
  kHang = 1001,
  kExit = 1002,        // the plug-in called exit
  kDescriptors = 1003  // the plug-in closed descriptors that are not its own
  // Any other value is the number of a signal.
};

struct PlugInDeath {
  std::size_t plug_in;
  PlugInEnd how;
  std::uint32_t deaths;  // the number of deaths by this plug-in in this run, including this one
};

/// A text such as "signal 11 (Segmentation fault)" or "it did not return in time".
std::string to_text(PlugInEnd how);

class PlugInNotes {
 public:
  /// Keeps the notes in memory only, where they end with the process.
  PlugInNotes();
  /// Keeps the notes in this file, which is created with mode 0600 if it is missing, and cleared if it has another
  /// format. Throws Error (exit code 3).
  explicit PlugInNotes(const std::string& path);
  ~PlugInNotes();
  PlugInNotes(const PlugInNotes&) = delete;
  PlugInNotes& operator=(const PlugInNotes&) = delete;

  /// Continues the notes of that run, and clears those of another run. ids: the ids of the plug-ins, in order; deaths
  /// by a plug-in with another id do not count. Returns the plug-ins that ended the previous analyzer.
  std::vector<PlugInDeath> begin_run(const Id128& run_id, std::span<const Id128> ids);
  /// The number of deaths in this run. plug_in: below kMostPlugIns.
  std::uint32_t deaths(std::size_t plug_in) const noexcept;

  PlugInCell& cell(std::size_t thread) noexcept;
  static std::size_t cells() noexcept;
  /// Async-signal-safe. Called just before the process ends. Returns false if an end was noted before, in which case
  /// the earlier note counts.
  bool note_end(std::uint32_t plug_in, PlugInEnd how) noexcept;
  /// Call it in a child process that a call of the plug-in has forked. Returns true for the first such child.
  bool note_child(std::uint32_t plug_in) noexcept;
  /// Whether, in this run, a child that a call of the plug-in has forked has returned from the call.
  bool has_forked(std::size_t plug_in) const noexcept;
  /// Call it when every plug-in has returned for a step, which means that the analyzer makes progress.
  void step_done() noexcept;

 private:
  struct Content;
  void map(int fd);

  Content* content_ = nullptr;
};

}  // namespace ringside
