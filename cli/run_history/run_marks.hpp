// SPDX-License-Identifier: BSD-3-Clause
// The marks of a run in bounded memory. The first and the newest ones are kept, because they show what went wrong first
// and what happens now. All are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "proto/ringside.pb.h"

namespace ringside {

struct RunMark {
  std::uint64_t seq = 0;  // of its record
  std::int64_t unix_ns = 0;
  std::uint64_t step = 0;
  std::uint64_t iteration = 0;
  std::string cause;  // "trigger", "non_finite", "undefined", "not_archived", "plug_in"
  std::string name;
  std::string text;
  std::vector<std::string> actions;
};

class RunMarks {
 public:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kNewest = 192;
  static constexpr std::size_t kMostTextBytes = 512;  // of each text; a journal may contain texts of any length
  static constexpr int kMostActions = 16;

  /// record: with a mark.
  void add(const wire::Record& record);

  std::uint64_t count() const noexcept { return count_; }
  /// The kept marks, in the order of their records.
  std::vector<RunMark> kept() const;

 private:
  std::uint64_t count_ = 0;
  std::vector<RunMark> first_;
  std::deque<RunMark> newest_;
};

}  // namespace ringside
