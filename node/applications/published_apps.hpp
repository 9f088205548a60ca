// SPDX-License-Identifier: BSD-3-Clause
// Published results for whole programs in these memories: Michel 2020, Table 5.1 (seconds), and Patil et al., MEMSYS
// 2019, 6.2 (in words: the paper's plots have no numbers).
#pragma once

#include <span>
#include <string_view>

namespace ringside {

struct PublishedApp {
  std::string_view app;      // of our table
  std::string_view program;  // as published
  std::string_view memory;   // "far only", "library, 1 GB of DRAM for 0.7 GB"
  bool cached = false;       // with DRAM as a cache; else far memory only
  double dram_percent = 0;   // of the program's memory; 0: not stated, or all of it fits
  double dram_s = 0, s = 0;  // all DRAM, and in this memory; 0: published in words only
  std::string_view finding;  // of the time, in words
  std::string_view source;
};

std::span<const PublishedApp> published_apps() noexcept;

}  // namespace ringside
