// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/run_marks.hpp"

#include <algorithm>

#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::string clipped(const std::string& text) {
  return std::string(utf8_prefix(text, RunMarks::kMostTextBytes));
}

}  // namespace

void RunMarks::add(const wire::Record& record) {
  const wire::Mark& said = record.mark();
  RunMark mark{.seq = record.seq(),
               .unix_ns = record.unix_ns(),
               .step = said.step(),
               .iteration = said.iteration(),
               .cause = clipped(said.cause()),
               .name = clipped(said.name()),
               .text = clipped(said.text()),
               .actions = {}};
  for (int i = 0; i < std::min(said.action_size(), kMostActions); ++i) mark.actions.push_back(clipped(said.action(i)));
  ++count_;
  if (first_.size() < kFirst) {
    first_.push_back(std::move(mark));
    return;
  }
  newest_.push_back(std::move(mark));
  if (newest_.size() > kNewest) newest_.pop_front();
}

std::vector<RunMark> RunMarks::kept() const {
  std::vector<RunMark> all = first_;
  all.insert(all.end(), newest_.begin(), newest_.end());
  return all;
}

}  // namespace ringside
