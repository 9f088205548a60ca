// SPDX-License-Identifier: BSD-3-Clause
// Published results for whole programs in these memories: Michel 2020, Table 5.1 (seconds), and Patil et al., MEMSYS
// 2019, 6.2 (in words: the paper's plots have no numbers).
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace ringside {

struct PublishedApp {
  std::string_view app;      // the name in our table
  std::string_view program;  // the published name
  std::string_view memory;   // "far only", "library, 1 GB of DRAM for 0.7 GB"
  bool cached = false;       // true: DRAM is a cache of far memory; false: no DRAM is used
  double dram_percent = 0;   // DRAM in percent of the program's memory; 0: not stated, or all of it fits
  double dram_s = 0, s = 0;  // seconds with all data in DRAM, and in this memory; 0: published only in words
  std::string_view finding;  // the finding about the time, in words
  std::string_view source;
};

inline std::span<const PublishedApp> published_apps() noexcept {
  constexpr std::string_view kMichel = "Michel 2020, Table 5.1";
  constexpr std::string_view kPatil = "Patil 2019, 6.2";
  constexpr std::string_view kFits = "Memory Mode, all fits into DRAM";
  constexpr std::string_view kAsDram = "as all DRAM, strong and weak";
  static constexpr std::array kPublished = {
      PublishedApp{"blackscholes", "blackscholes (PARSEC)", "far only", false, 0, 18.142, 21.097, "", kMichel},
      PublishedApp{"blackscholes", "blackscholes (PARSEC)", "library, 1 GB of DRAM for 0.7 GB", true, 143, 18.142,
                   23.644, "", kMichel},
      PublishedApp{"itemset", "freqmine (PARSEC)", "far only", false, 0, 28.439, 66.800, "", kMichel},
      PublishedApp{"itemset", "freqmine (PARSEC)", "library, 1 GB of DRAM for 1.8 GB", true, 56, 28.439, 84.830, "",
                   kMichel},
      PublishedApp{"lulesh", "LULESH", "far only", false, 0, 0, 0,
                   "strong scaling: 1.5 times at 1 and 8 processes, about 6 times at 27; weak scaling: even more at 27",
                   kPatil},
      PublishedApp{"lulesh", "LULESH", kFits, true, 0, 0, 0, kAsDram, kPatil},
      PublishedApp{"amg", "AMG", "far only", false, 0, 0, 0, "more than 2 times, strong and weak scaling", kPatil},
      PublishedApp{"amg", "AMG", kFits, true, 0, 0, 0, kAsDram, kPatil},
      PublishedApp{"vpic", "VPIC", "far only", false, 0, 0, 0,
                   "strong scaling: 2 to 16 % slower; weak scaling: no difference", kPatil},
      PublishedApp{"vpic", "VPIC", kFits, true, 0, 0, 0, kAsDram, kPatil},
      PublishedApp{"snap", "SNAP", "far only", false, 0, 0, 0,
                   "strong scaling: about the same time; weak scaling: 2 times as long at 8 processes", kPatil},
      PublishedApp{"snap", "SNAP", kFits, true, 0, 0, 0, kAsDram, kPatil},
  };
  return kPublished;
}

}  // namespace ringside
