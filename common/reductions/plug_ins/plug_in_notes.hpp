// SPDX-License-Identifier: BSD-3-Clause
// What must outlive an analyzer that a plug-in ends: which thread was in which plug-in, how the process ended, and how
// often. It lies in a file beside the analyzer's socket, mapped shared, so the next analyzer reads it, whatever ended
// this one. Valid for one run of the solver; no data of the user's is in it.
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

/// What the name of the file with the notes has behind that of the analyzer's socket.
inline constexpr const char* kPlugInNotesSuffix = ".plug-ins";

/// A plug-in is left out after so many deaths in a run.
inline constexpr std::uint32_t kMostPlugInDeaths = 2;

/// One thread's place: which plug-in it is in, and how many calls it has begun. 64: one cache line a thread.
struct alignas(64) PlugInCell {
  std::atomic<std::uint32_t> plug_in{0};  // its index + 1; 0: in none
  std::uint32_t unused = 0;
  std::atomic<std::uint64_t> calls{0};
};

/// How an analyzer ended inside a plug-in.
enum class PlugInEnd : std::uint32_t {
  kUnknown = 0,  // it was killed from outside, or by something that leaves no note
  kHang = 1001,
  kExit = 1002,        // the plug-in called exit
  kDescriptors = 1003  // it closed descriptors that are not its own
  // Else the number of a signal.
};

struct PlugInDeath {
  std::size_t plug_in;
  PlugInEnd how;
  std::uint32_t deaths;  // of this plug-in in this run, this one included
};

/// "signal 11 (Segmentation fault)", "it did not return", …
std::string to_text(PlugInEnd how);

class PlugInNotes {
 public:
  /// In memory only: they end with the process.
  PlugInNotes();
  /// In this file, which is made, with mode 0600, if it is missing or of another format. Throws Error (exit code 3).
  explicit PlugInNotes(const std::string& path);
  ~PlugInNotes();
  PlugInNotes(const PlugInNotes&) = delete;
  PlugInNotes& operator=(const PlugInNotes&) = delete;

  /// Takes up the notes of that run; those of another run are cleared. ids: of the plug-ins, in order; the deaths of a
  /// plug-in with another id do not count. Returns those that ended the analyzer before this one.
  std::vector<PlugInDeath> begin_run(const Id128& run_id, std::span<const Id128> ids);
  /// Of this run. plug_in: below kMostPlugIns.
  std::uint32_t deaths(std::size_t plug_in) const noexcept;

  PlugInCell& cell(std::size_t thread) noexcept;
  static std::size_t cells() noexcept;
  /// Async-signal-safe. The process ends next. False if an end was noted before: that one counts.
  bool note_end(std::uint32_t plug_in, PlugInEnd how) noexcept;
  /// In a child that a call of the plug-in has forked. True if it is the first one.
  bool note_child(std::uint32_t plug_in) noexcept;
  /// Such a child has come back from the call, in this run.
  bool has_forked(std::size_t plug_in) const noexcept;
  /// Every plug-in has returned for a step: the analyzer makes progress.
  void step_done() noexcept;

 private:
  struct Content;
  void map(int fd);

  Content* content_ = nullptr;
};

}  // namespace ringside
