// SPDX-License-Identifier: BSD-3-Clause
// Validates the probes on libringside_memory, whose DRAM limit and granule are known: their answers, and whether these
// are right. bench_probes runs several cases, a test runs one.
#pragma once

#include <vector>

#include "memory/probe/library_memory.hpp"
#include "memory/probe/probes.hpp"

namespace ringside::probe {

struct LibraryCase {
  LibraryChoice choice;
  ProbeReport report;

  const Answer* answer(const char* question) const;
  bool size_is_right() const;  // within 12 % of the DRAM limit
  bool line_is_right() const;  // the exact granule
  bool read_ahead_is_right() const;
  bool no_answer_is_wrong() const;
};

/// Probes a library started with `choice`. Throws LibraryRefusal.
LibraryCase probe_library(const LibraryChoice& choice, const ProbeChoice& questions = {});

/// Limits of 3 and 8 MiB with granules of 4, 16 and 64 KiB, with and without read-ahead.
std::vector<LibraryChoice> library_choices(const std::string& far_folder);

}  // namespace ringside::probe
