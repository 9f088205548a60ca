// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/record_message.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/kernels/id_bytes.hpp"
#include "common/records/plain_record.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

void put_id(std::string& bytes, const Id128& id) {
  bytes.resize(kIdBytes);
  put_id(reinterpret_cast<unsigned char*>(bytes.data()), id);
}

/// Calls visit(figure, getter, setter) for each field of a step except the run's id and the results.
template <class Figures, class Visit>
void for_each_figure(Figures& figures, const Visit& visit) {
  using Record = wire::StepRecord;
  visit(figures.step.step, &Record::step, &Record::set_step);
  visit(figures.step.iteration, &Record::iteration, &Record::set_iteration);
  visit(figures.commit_seq, &Record::commit_seq, &Record::set_commit_seq);
  visit(figures.step.published_at_ns, &Record::published_at_ns, &Record::set_published_at_ns);
  visit(figures.step.generate_ns, &Record::generate_ns, &Record::set_generate_ns);
  visit(figures.step.producer_idle_ns, &Record::producer_idle_ns, &Record::set_producer_idle_ns);
  visit(figures.record_ns, &Record::record_ns, &Record::set_record_ns);
  visit(figures.analyzer_idle_ns, &Record::analyzer_idle_ns, &Record::set_analyzer_idle_ns);
  visit(figures.hand_off_ns, &Record::hand_off_ns, &Record::set_hand_off_ns);
  visit(figures.transfer_ns, &Record::transfer_ns, &Record::set_transfer_ns);
  visit(figures.commit_ns, &Record::commit_ns, &Record::set_commit_ns);
  visit(figures.analyze_ns, &Record::analyze_ns, &Record::set_analyze_ns);
  visit(figures.bytes_transferred, &Record::bytes_transferred, &Record::set_bytes_transferred);
  visit(figures.steps_committed, &Record::steps_committed, &Record::set_steps_committed);
  visit(figures.steps_persisted, &Record::steps_persisted, &Record::set_steps_persisted);
  visit(figures.step.skipped_before, &Record::skipped_before, &Record::set_skipped_before);
  visit(figures.rebuilt, &Record::rebuilt, &Record::set_rebuilt);
  visit(figures.broke_lease, &Record::broke_lease, &Record::set_broke_lease);
  visit(figures.guarded_commit_seq, &Record::guarded_commit_seq, &Record::set_guarded_commit_seq);
}

void fill_figures(wire::StepRecord& record, const StepFigures& figures) {
  put_id(*record.mutable_run_id(), figures.run_id);
  for_each_figure(figures, [&](const auto& figure, auto, auto set) { (record.*set)(figure); });
}

/// Writes the marks of absence as bytes, the lowest bit first; empty if no value is absent.
void fill_absent(std::string& bytes, const ColumnCounts& counts, std::span<const std::uint64_t> words) {
  bytes.clear();
  const auto marks = words.first(counts.absence_words());
  if (std::ranges::all_of(marks, [](std::uint64_t word) { return word == 0; })) return;
  bytes.resize((counts.values() + 7) / 8);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(marks[i / 8] >> (8 * (i % 8)));
}

StepResults results_before_names(const wire::StepRecord& step) {
  std::optional<Reductions> reductions;
  if (step.has_reductions()) {
    const google::protobuf::Reflection& message = *step.reductions().GetReflection();
    reductions.emplace();
    for_each_scalar([&](const char* name, auto, auto to) {
      const auto* field = wire::Reductions::descriptor()->FindFieldByName(name);
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(*reductions.*to)>, double>) {
        *reductions.*to = message.GetDouble(step.reductions(), field);
      } else {
        const bool is_flag = field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_BOOL;
        *reductions.*to =
            is_flag ? message.GetBool(step.reductions(), field) ? 1 : 0 : message.GetUInt64(step.reductions(), field);
      }
    });
  }
  return older_results(reductions, step.rebuilt(), step.residual_l1(), step.residual_linf());
}

template <class Message>
void fill_description(Message& message, const RecordLayout& layout) {
  for (const Variable& variable : layout.schema().variables()) {
    wire::Variable& out = *message.add_schema();
    out.set_name(variable.name);
    out.set_dtype(std::string(to_string(variable.dtype)));
    for (const std::uint64_t entries : variable.shape) out.add_shape(entries);
    out.set_unit(variable.unit);
    out.set_role(std::string(to_string(variable.role)));
  }
  for (const ResultDescription& result : layout.catalogue().descriptions()) {
    wire::ResultDescription& out = *message.add_results();
    out.set_name(std::string(text_of(result.name)));
    out.set_type(std::string(to_string(result.type)));
    out.set_source(std::string(to_string(result.source)));
    out.set_classes(result.classes);
    out.set_unit(std::string(text_of(result.unit)));
    out.set_count(result.count);
    out.set_needs_previous((result.flags & kNeedsPrevious) != 0);
    if (origin_of(result) != Id128{}) out.set_origin(result.origin, sizeof result.origin);
  }
}

}  // namespace

std::string bytes_of(const Id128& id) {
  std::string bytes;
  put_id(bytes, id);
  return bytes;
}

std::optional<Id128> id_of(std::string_view bytes) noexcept {
  if (bytes.size() != kIdBytes) return std::nullopt;
  return id_at(reinterpret_cast<const unsigned char*>(bytes.data()));
}

const std::string& run_id_of(const wire::Record& record) {
  switch (record.what_case()) {
    case wire::Record::kStep: return record.step().run_id();
    case wire::Record::kRunStarted: return record.run_started().run_id();
    case wire::Record::kRunEnded: return record.run_ended().run_id();
    case wire::Record::kRecordsMissing: return record.records_missing().run_id();
    case wire::Record::kRunDescribed: return record.run_described().run_id();
    case wire::Record::kMark: return record.mark().run_id();
    case wire::Record::kAnalysisResults: return record.analysis_results().run_id();
    default: break;
  }
  static const std::string none;
  return none;
}

void fill(wire::StepRecord& record, const StepFigures& figures, const RecordLayout& layout,
          std::span<const std::uint64_t> values) {
  fill_figures(record, figures);
  fill(*record.mutable_results(), layout, values);
}

void fill(wire::StepRecord& record, const RecordedStep& step) {
  if (step.results.layout()) {
    fill(record, step.figures, *step.results.layout(), step.results.words());
    return;
  }
  fill_figures(record, step.figures);
  record.mutable_results()->Clear();  // present even if empty, as in all records that have results by name
}

void fill(wire::RecordsMissing& record, const MissingSteps& missing) {
  put_id(*record.mutable_run_id(), missing.run_id);
  record.set_first_step(missing.first_step);
  record.set_steps(missing.steps);
  record.set_first_commit_seq(missing.first_commit_seq);
  record.set_first_iteration(missing.first_iteration);
  record.set_last_iteration(missing.last_iteration);
}

std::optional<RecordedStep> step_of(const wire::StepRecord& record, const ResultNames& names) {
  const std::optional<Id128> run_id = id_of(record.run_id());
  if (!run_id) return std::nullopt;
  RecordedStep step{.figures = {}, .results = names.results(record)};
  step.figures.run_id = *run_id;
  for_each_figure(step.figures, [&](auto& figure, auto get, auto) { figure = (record.*get)(); });
  return step;
}

void fill(wire::Results& message, const RecordLayout& layout, std::span<const std::uint64_t> words) {
  const ColumnCounts& counts = layout.counts();
  message.mutable_f64()->Resize(static_cast<int>(counts.f64), 0);
  message.mutable_i64()->Resize(static_cast<int>(counts.i64), 0);
  message.mutable_i128()->Resize(static_cast<int>(2 * counts.i128), 0);
  auto word = words.begin() + static_cast<std::ptrdiff_t>(counts.absence_words());
  for (double& value : *message.mutable_f64()) value = std::bit_cast<double>(*word++);
  for (auto& value : *message.mutable_i64()) value = static_cast<std::int64_t>(*word++);
  for (auto& value : *message.mutable_i128()) value = *word++;
  fill_absent(*message.mutable_absent(), counts, words);
  message.set_catalogue(layout.hash());
}

std::optional<StepResults> columns_of(const wire::Results& message) {
  std::vector<std::uint64_t> values;
  values.reserve(static_cast<std::size_t>(message.f64_size() + message.i64_size() + message.i128_size()));
  for (const double value : message.f64()) values.push_back(std::bit_cast<std::uint64_t>(value));
  for (const auto value : message.i64()) values.push_back(static_cast<std::uint64_t>(value));
  for (const auto value : message.i128()) values.push_back(value);
  return StepResults::of_columns(static_cast<std::size_t>(message.f64_size()),
                                 static_cast<std::size_t>(message.i64_size()),
                                 static_cast<std::size_t>(message.i128_size()), values, message.absent());
}

void describe(wire::RunStarted& message, const RecordLayout& layout) {
  message.clear_schema();
  message.clear_results();
  fill_description(message, layout);
  message.set_payload_bytes(layout.schema().payload_bytes());
}

wire::RunDescribed describe_run(const std::string& run_id, const RecordLayout& layout) {
  wire::RunDescribed message;
  message.set_run_id(run_id);
  fill_description(message, layout);
  return message;
}

SharedLayout layout_of(const wire::RunStarted& message) {
  wire::RunDescribed described;
  *described.mutable_schema() = message.schema();
  *described.mutable_results() = message.results();
  return layout_of(described);
}

/// Encodes the message again, so that only one function decodes descriptions. A run has few descriptions.
SharedLayout layout_of(const wire::RunDescribed& message) {
  wire::Record record;
  *record.mutable_run_described() = message;
  const std::optional<PlainRecord> decoded = decode_record(record.SerializeAsString());
  return decoded ? decoded->layout : nullptr;
}

void ResultNames::learn(const wire::Record& record) {
  if (record.has_run_started()) learn(record.run_started());
  if (record.has_run_described()) learn(layout_of(record.run_described()));
}

void ResultNames::learn(const wire::RunStarted& started) {
  learn(layout_of(started));
}

bool ResultNames::knows(const wire::StepRecord& step) const {
  return !step.has_results() || layouts_.contains(step.results().catalogue());
}

StepResults ResultNames::results(const wire::StepRecord& step) const {
  if (!step.has_results()) return results_before_names(step);
  std::optional<StepResults> values = columns_of(step.results());
  return values ? named(std::move(*values), step.results().catalogue()) : StepResults();
}

}  // namespace ringside
