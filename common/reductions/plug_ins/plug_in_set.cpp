// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/plug_ins/plug_in_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/platform/error.hpp"
#include "common/results/declared_results.hpp"

namespace ringside {
namespace {

std::string label_of(const PlugInSpec& spec) {
  return fmt::format("reduction '{}' ({})", spec.as.empty() ? spec.name : spec.as, spec.path);
}

/// A text such as "real or complex fields".
std::string fields_taken_by(std::uint32_t classes) {
  std::vector<std::string_view> names;
  if ((classes & RINGSIDE_CLASS_REAL) != 0) names.emplace_back("real");
  if ((classes & RINGSIDE_CLASS_COMPLEX) != 0) names.emplace_back("complex");
  if ((classes & RINGSIDE_CLASS_INTEGER) != 0) names.emplace_back("integer");
  return fmt::format("{} fields", fmt::join(names, " or "));
}

}  // namespace

PlugInSet::PlugInSet(std::span<const std::string> specs, double timeout_s, const std::string& notes) {
  if (specs.empty()) return;
  if (specs.size() > kMostPlugIns) {
    throw usage_error("--reduce-with: found {} reductions, expected at most {}", specs.size(), kMostPlugIns);
  }
  std::vector<PlugInSpec> parsed;
  std::vector<std::string> labels;
  for (const std::string& spec : specs) labels.push_back(label_of(parsed.emplace_back(parse_plug_in(spec))));
  notes_ = notes.empty() ? std::make_unique<PlugInNotes>() : std::make_unique<PlugInNotes>(notes);
  watch_ = std::make_unique<PlugInWatch>(labels, timeout_s, *notes_);
  for (const PlugInSpec& spec : parsed) {
    const PlugInCall call(*watch_, 0, plug_ins_.size());  // this runs the library's constructors
    plug_ins_.push_back(PlugIn::load(spec));
    watch_->check_descriptors(plug_ins_.size() - 1);
    for (const PlugIn& other : std::span(plug_ins_).first(plug_ins_.size() - 1)) {
      if (other.name() != plug_ins_.back().name()) continue;
      throw usage_error("--reduce-with: two reductions are named '{}' ({}, {}); expected each name once: add :as=NAME",
                        other.name(), other.spec().text, spec.text);
    }
    for (const ResultDescription& one : plug_ins_.back().descriptions()) descriptions_.push_back(one);
  }
  ended_.resize(plug_ins_.size());
}

std::vector<std::string> PlugInSet::begin_run(const Id128& run_id) {
  if (empty()) return {};
  std::vector<Id128> ids;
  for (const PlugIn& plug_in : plug_ins_) ids.push_back(plug_in.id());
  std::vector<std::string> lines;
  for (const PlugInDeath& death : notes_->begin_run(run_id, ids)) {
    ended_[death.plug_in] = to_text(death.how);
    lines.push_back(fmt::format("the {} ended the analyzer ({}), for the {} time in this run; {}",
                                label_of(plug_ins_[death.plug_in].spec()), to_text(death.how),
                                death.deaths == 1 ? "first" : "second",
                                death.deaths < kMostPlugInDeaths ? "it is tried once more" : "it is left out"));
  }
  for (std::size_t p = 0; p < plug_ins_.size(); ++p) {
    const bool too_many = notes_->deaths(p) >= kMostPlugInDeaths;
    out_[p].store(static_cast<int>(too_many ? PlugInHarm::kTooManyDeaths : PlugInHarm::kNone), std::memory_order_relaxed);
  }
  leave_out_forked();
  return lines;
}

void PlugInSet::leave_out_forked() noexcept {
  for (std::size_t p = 0; p < plug_ins_.size(); ++p) {
    if (notes_->has_forked(p)) leave_out(p, PlugInHarm::kForked);
  }
}

std::string PlugInSet::why(std::size_t plug_in) const {
  switch (PlugInHarm{out_[plug_in].load(std::memory_order_relaxed)}) {
    case PlugInHarm::kWroteOutside: return "it wrote outside its state";
    case PlugInHarm::kForked: return "it forked, and the child returned from the call";
    case PlugInHarm::kNone:
    case PlugInHarm::kTooManyDeaths: break;
  }
  return ended_[plug_in];
}

std::vector<std::string> PlugInSet::without_a_field(const Schema& schema) const {
  std::uint32_t there = 0;
  std::vector<std::string> fields;
  for (const Variable& variable : schema.variables()) {
    if (variable.role != Role::kField) continue;
    there |= static_cast<std::uint32_t>(class_of(variable.dtype));
    if (fields.size() < 4) fields.push_back(to_text(variable));
  }
  std::vector<std::string> lines;
  for (const PlugIn& plug_in : plug_ins_) {
    const std::uint32_t classes = classes_of(plug_in.declared());
    if ((classes & there) != 0) continue;
    lines.push_back(fmt::format(
        "the {} has no results in this run: it accepts {}, but {}", label_of(plug_in.spec()), fields_taken_by(classes),
        fields.empty() ? "there is no field"
                       : fmt::format("the fields are {} (ringside_reduction.classes lists what it accepts)",
                                     fmt::join(fields, ", "))));
  }
  return lines;
}

std::vector<PlugInState> PlugInSet::states() const {
  std::vector<PlugInState> states;
  for (std::size_t p = 0; p < plug_ins_.size(); ++p) {
    states.push_back({.name = plug_ins_[p].name(),
                      .spec = plug_ins_[p].spec().text,
                      .deaths = notes_->deaths(p),
                      .left_out = left_out(p),
                      .why = why(p)});
  }
  return states;
}

}  // namespace ringside
