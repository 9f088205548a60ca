// SPDX-License-Identifier: BSD-3-Clause
// The identity and the problem of a run. The producer sends it when it attaches, and the ring keeps it beside the
// iterates. Fixed size and trivially copyable, because it crosses a process boundary and outlives the process
// (docs/ring_format.md).
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/kernels/hash.hpp"

namespace ringside {

struct RunDescription {
  Id128 run_id;                          // random, one per run
  Id128 problem_id;                      // hash of matrix content, solver and all else that decides the iterates
  std::uint64_t rows = 0;                // doubles in one iterate
  std::uint64_t nonzeros = 0;            // entries of the matrix
  std::int64_t started_realtime_ns = 0;  // CLOCK_REALTIME
  char solver[24] = {};                  // "pagerank", NUL-terminated
  char matrix[416] = {};                 // as given on the command line, NUL-terminated, shortened from the left
  char parameters[512] = {};             // "damping=0.85", NUL-terminated: the solver's part of problem_id, readable
};
static_assert(sizeof(RunDescription) == 1008 && std::is_trivially_copyable_v<RunDescription>);

/// Copies `text` into a fixed field, NUL-terminated and zero-padded. A text that is too long loses its beginning,
/// because the end of a path is more informative. No UTF-8 character is cut: its continuation bytes (10xxxxxx, at most
/// three) are removed, too.
template <std::size_t N>
void assign(char (&field)[N], std::string_view text) noexcept {
  if (text.size() > N - 1) {
    text.remove_prefix(text.size() - (N - 1));
    for (int i = 0; i < 3 && !text.empty() && (text.front() & 0xC0) == 0x80; ++i) text.remove_prefix(1);
  }
  for (std::size_t i = 0; i < N; ++i) field[i] = i < text.size() ? text[i] : '\0';
}

/// What a fixed field holds, up to its NUL; a field without a NUL (from a hostile peer) is taken whole.
template <std::size_t N>
std::string_view text_of(const char (&field)[N]) noexcept {
  std::size_t length = 0;
  while (length < N && field[length] != '\0') ++length;
  return {field, length};
}

}  // namespace ringside
