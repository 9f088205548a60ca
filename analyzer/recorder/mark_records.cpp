// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/mark_records.hpp"

#include <fmt/format.h>

#include <string>

#include "common/platform/error.hpp"
#include "common/records/record_message.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// The text of a trigger's mark that people read in addition to the trigger's name.
std::string text_of(const TriggerSpec& trigger, const StepMarks& marks) {
  std::string text = trigger.condition;
  if (trigger.on_non_finite) {
    text = fmt::format("{} entries are NaN or infinite; {}", marks.non_finite,
                       marks.last_finite_iteration
                           ? fmt::format("the last finite step, iteration {}, is not overwritten",
                                         *marks.last_finite_iteration)
                           : "no finite step is kept");
  }
  if ((trigger.actions & kFreeze) != 0 && marks.freeze_error != 0) {
    text += fmt::format("; the freeze could not be written ({}) and ends with this analyzer",
                        errno_text(marks.freeze_error));
  }
  return text;
}

}  // namespace

std::vector<wire::Record> mark_records(const StepMarks& marks, const StepFigures& figures,
                                       std::span<const TriggerSpec> triggers) {
  std::vector<wire::Record> records;
  const auto add = [&](const char* cause, const std::string& name, const std::string& text) -> wire::Mark& {
    wire::Mark& mark = *records.emplace_back().mutable_mark();
    mark.set_run_id(bytes_of(figures.run_id));
    mark.set_step(figures.step.step);
    mark.set_iteration(figures.step.iteration);
    mark.set_commit_seq(figures.commit_seq);
    mark.set_cause(cause);
    mark.set_name(utf8_text(name));
    mark.set_text(utf8_text(text));
    return mark;
  };
  for (std::size_t t = 0; t < triggers.size(); ++t) {
    const TriggerSpec& trigger = triggers[t];
    if ((marks.fired >> t & 1) != 0) {
      wire::Mark& mark = add(trigger.on_non_finite ? "non_finite" : "trigger", trigger.name, text_of(trigger, marks));
      for (const std::string& action : action_texts(trigger)) mark.add_action(action);
    }
    if ((marks.undefined >> t & 1) != 0) {
      add("undefined", trigger.name,
          fmt::format("{} divides by zero, or takes a root or a logarithm that does not exist; therefore the condition "
                      "counts as false",
                      trigger.condition));
    }
  }
  if (marks.not_archived > 0) {
    add("not_archived", "archive",
        fmt::format("{} steps up to this one could not be copied to the archive: the ring needed their slots or was "
                    "frozen, or the archive failed",
                    marks.not_archived));
  }
  return records;
}

}  // namespace ringside
