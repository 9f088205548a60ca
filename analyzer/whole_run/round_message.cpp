// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run/round_message.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

namespace ringside {
namespace {

// The figures that nodes send, and how two of them are combined.
template <class Visit>
void for_each_duration(Visit&& visit) {
  visit(&StepFigures::analyzer_idle_ns);
  visit(&StepFigures::hand_off_ns);
  visit(&StepFigures::transfer_ns);
  visit(&StepFigures::commit_ns);
  visit(&StepFigures::analyze_ns);
}

/// The inverse of `with_step`, modulo 2^64.
std::int64_t difference(std::uint64_t number, std::uint64_t step) noexcept {
  return static_cast<std::int64_t>(number - step);
}
std::uint64_t with_step(std::int64_t difference, std::uint64_t step) noexcept {
  return step + static_cast<std::uint64_t>(difference);
}

constexpr std::size_t kExactNumbers = 6;

std::array<Int128, kExactNumbers> numbers_of(const ExactReductions& exact) noexcept {
  return {exact.sum, exact.l1, exact.min, exact.max, exact.change_l1, exact.change_linf};
}

/// Writes only the words that are left without the leading and the trailing zeros.
void write(const ExactSum& sum, wire::ExactSum& out) {
  const std::uint64_t* const words = std::begin(sum.words);
  const auto is_used = [](std::uint64_t word) { return word != 0; };
  const std::uint64_t* const first = std::find_if(words, std::end(sum.words), is_used);
  std::size_t end = ExactSum::kWords;
  while (end > 0 && words[end - 1] == 0) --end;
  out.set_met(static_cast<std::uint32_t>(sum.met));
  if (end == 0) return;
  out.set_first_word(static_cast<std::uint32_t>(first - words));
  out.mutable_word()->Add(first, words + end);
}

bool read(const wire::ExactSum& in, ExactSum& sum) {
  const auto used = static_cast<std::size_t>(in.word_size());
  if (in.first_word() > ExactSum::kWords || used > ExactSum::kWords - in.first_word()) return false;
  if ((in.met() & ~(ExactSum::kInfinite | ExactSum::kNan)) != 0) return false;
  std::ranges::copy(in.word(), sum.words + in.first_word());
  sum.met = in.met();
  return true;
}

constexpr std::size_t kExtremes = 3;

/// The number of numbers in a field's message.
std::size_t count_of_numbers(const WholeField& field, bool is_integer, bool in_boxes) noexcept {
  const std::size_t sums = in_boxes ? 0 : plain::reduction_kernel.sums;
  return sums * (field.open_entries() != 0 ? 2 + kRunningSums : 2) + (is_integer ? 0 : kExtremes);
}

bool read_exact_sums(const wire::RoundField& in, WholeField& field) {
  if (static_cast<std::size_t>(in.exact_sum_size()) != ExactSums::kCount) return false;
  field.exact_sums = std::make_unique<ExactSums>();
  const std::array<ExactSum*, ExactSums::kCount> all = field.exact_sums->all();
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (!read(in.exact_sum(static_cast<int>(s)), *all[s])) return false;
  }
  return true;
}

void write(const WholeField& field, std::size_t variable, bool is_integer, wire::RoundField& out) {
  out.set_variable(static_cast<std::uint32_t>(variable));
  out.set_entries(field.entries);
  out.set_lacks_change(!field.has_change);
  out.set_non_finite(field.non_finite);
  const std::size_t sums = plain::reduction_kernel.sums;
  auto& numbers = *out.mutable_number();
  if (!field.exact_sums) {
    numbers.Add(field.totals, field.totals + sums);
    numbers.Add(field.errors, field.errors + sums);
  }
  if (!is_integer) {
    for (const double extreme : {field.min, field.max, field.change_linf}) numbers.Add(extreme);
  }
  if (field.exact_sums) {
    for (const ExactSum* const sum : std::as_const(*field.exact_sums).all()) write(*sum, *out.add_exact_sum());
  } else if (field.open_entries() != 0) {
    numbers.Add(field.running, field.running + sums * kRunningSums);
  }
  if (!is_integer) return;
  for (const Int128 number : numbers_of(field.exact)) {
    out.add_exact(static_cast<std::uint64_t>(number));
    out.add_exact(static_cast<std::uint64_t>(static_cast<UInt128>(number) >> 64));
  }
}

bool read(const wire::RoundField& in, bool is_integer, bool in_boxes, std::uint64_t most_entries, WholeField& field) {
  field = {};
  field.entries = in.entries();
  field.has_change = !in.lacks_change();
  field.non_finite = in.non_finite();
  if (field.entries > most_entries ||
      static_cast<std::size_t>(in.exact_size()) != (is_integer ? 2 * kExactNumbers : 0) ||
      static_cast<std::size_t>(in.number_size()) != count_of_numbers(field, is_integer, in_boxes) ||
      !(in_boxes ? read_exact_sums(in, field) : in.exact_sum_size() == 0)) {
    return false;
  }
  const std::size_t sums = plain::reduction_kernel.sums;
  const double* number = in.number().data();
  const auto take = [&number](std::size_t count, double* to) {
    std::copy_n(number, count, to);
    number += count;
  };
  if (!in_boxes) {
    take(sums, field.totals);
    take(sums, field.errors);
  }
  if (!is_integer) {
    for (double* const extreme : {&field.min, &field.max, &field.change_linf}) take(1, extreme);
  }
  if (!in_boxes && field.open_entries() != 0) take(sums * kRunningSums, field.running);
  if (!is_integer) return true;
  const auto exact = [&in](int i) {
    return static_cast<Int128>(static_cast<UInt128>(in.exact(2 * i + 1)) << 64 | in.exact(2 * i));
  };
  field.exact.sum = exact(0);
  field.exact.l1 = exact(1);
  field.exact.min = exact(2);
  field.exact.max = exact(3);
  field.exact.change_l1 = exact(4);
  field.exact.change_linf = exact(5);
  return true;
}

bool is_integer(const RoundPlan& plan, std::size_t variable) {
  return class_of(plan.whole.variables()[variable].dtype) == DTypeClass::kInteger;
}

}  // namespace

void take_figures(RoundState& state, const StepFigures& own) noexcept {
  if (!state.has_figures) {
    state.figures = own;
    state.has_figures = true;
    return;
  }
  StepFigures& figures = state.figures;
  for_each_duration([&](auto duration) { figures.*duration = std::max(figures.*duration, own.*duration); });
  figures.step.generate_ns = std::max(figures.step.generate_ns, own.step.generate_ns);
  figures.step.producer_idle_ns = std::max(figures.step.producer_idle_ns, own.step.producer_idle_ns);
  figures.bytes_transferred += own.bytes_transferred;
  figures.steps_committed = std::min(figures.steps_committed, own.steps_committed);
  figures.steps_persisted = std::min(figures.steps_persisted, own.steps_persisted);
}

void write(const RoundPlan& plan, const RoundState& state, wire::RoundStep& message) {
  message.Clear();
  message.set_attachment(plan.attachment.high);
  message.set_step(state.step);
  message.set_iteration(difference(state.iteration, state.step));
  message.set_node(state.node);
  message.set_not_collected(state.step - state.collected);
  if (state.lost_by) message.set_lost_by(*state.lost_by);
  message.set_ended(state.ended);
  message.set_again(state.again);
  if (state.ended || state.lost_by) return;
  const StepFigures& figures = state.figures;
  wire::RoundFigures& out = *message.mutable_figures();
  out.set_generate_ns(figures.step.generate_ns);
  out.set_producer_idle_ns(figures.step.producer_idle_ns);
  out.set_analyzer_idle_ns(figures.analyzer_idle_ns);
  out.set_hand_off_ns(figures.hand_off_ns);
  out.set_transfer_ns(figures.transfer_ns);
  out.set_commit_ns(figures.commit_ns);
  out.set_analyze_ns(figures.analyze_ns);
  out.set_bytes_transferred(figures.bytes_transferred);
  out.set_steps_committed(difference(figures.steps_committed, state.step));
  out.set_steps_persisted(difference(figures.steps_persisted, state.step));
  for (std::size_t v = 0; v < state.fields.size(); ++v) {
    if (plan.has_results[v]) write(state.fields[v], v, is_integer(plan, v), *message.add_fields());
  }
}

bool read(const RoundPlan& plan, const wire::RoundStep& message, RoundState& state) {
  if (message.attachment() != plan.attachment.high || message.node() == 0 || message.node() > plan.nodes ||
      message.not_collected() > message.step()) {
    return false;
  }
  state.step = message.step();
  state.iteration = with_step(message.iteration(), state.step);
  state.node = message.node();
  state.collected = state.step - message.not_collected();
  state.lost_by.reset();
  if (message.has_lost_by()) state.lost_by = message.lost_by();
  state.ended = message.ended();
  state.again = message.again();
  if (state.ended || state.lost_by) return true;
  const wire::RoundFigures& in = message.figures();
  state.has_figures = true;
  state.figures = {};
  state.figures.step.generate_ns = in.generate_ns();
  state.figures.step.producer_idle_ns = in.producer_idle_ns();
  state.figures.analyzer_idle_ns = in.analyzer_idle_ns();
  state.figures.hand_off_ns = in.hand_off_ns();
  state.figures.transfer_ns = in.transfer_ns();
  state.figures.commit_ns = in.commit_ns();
  state.figures.analyze_ns = in.analyze_ns();
  state.figures.bytes_transferred = in.bytes_transferred();
  state.figures.steps_committed = with_step(in.steps_committed(), state.step);
  state.figures.steps_persisted = with_step(in.steps_persisted(), state.step);
  state.fields.clear();
  state.fields.resize(plan.whole.size());
  std::vector<bool> is_there(plan.whole.size(), false);
  for (const wire::RoundField& field : message.fields()) {
    const std::size_t v = field.variable();
    if (v >= plan.whole.size() || !plan.has_results[v] || is_there[v]) return false;
    const std::uint64_t entries = plan.whole.place(v).entries;
    if (!read(field, is_integer(plan, v), plan.in_boxes[v], entries, state.fields[v])) return false;
    // After the last node, the field must have all entries.
    if (state.node == plan.nodes && state.fields[v].entries != entries) return false;
    is_there[v] = true;
  }
  return is_there == plan.has_results;
}

}  // namespace ringside
