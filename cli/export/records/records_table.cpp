// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/records/records_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "cli/pool/decoded_journal.hpp"
#include "common/records/analysis_results.hpp"
#include "common/text/formatted.hpp"
#include "common/text/hex.hpp"

namespace ringside {
namespace {

ColumnType column_type(ValueType type) {
  return type == ValueType::kF64 ? ColumnType::kF64 : type == ValueType::kI64 ? ColumnType::kI64 : ColumnType::kI128;
}

const char* type_text(ColumnType type) {
  return type == ColumnType::kF64 ? "f64" : type == ColumnType::kI64 ? "i64" : "i128";
}

/// Calls use(name, type, unit, cell) for each figure of a record, in the order of the columns. This is the only list of
/// the figures.
template <class Use>
void for_each_figure(const wire::Record& record, const Use& use) {
  const wire::StepRecord& step = record.step();
  const auto whole = [&](const char* name, ColumnType type, const char* unit, std::uint64_t value) {
    use(name, type, unit, RecordCell{.present = true, .words = {value, 0}, .text = {}});
  };
  const auto ns = [&](const char* name, std::int64_t value) {
    whole(name, ColumnType::kI64, "ns", static_cast<std::uint64_t>(value));
  };
  whole("seq", ColumnType::kU64, "", record.seq());
  ns("unix_ns", record.unix_ns());
  use("run_id", ColumnType::kText, "", RecordCell{.present = true, .words = {}, .text = hex(step.run_id())});
  whole("iteration", ColumnType::kU64, "", step.iteration());
  whole("step", ColumnType::kU64, "", step.step());
  whole("commit_seq", ColumnType::kU64, "", step.commit_seq());
  ns("published_at_ns", step.published_at_ns());
  ns("generate_ns", step.generate_ns());
  ns("producer_idle_ns", step.producer_idle_ns());
  ns("analyzer_idle_ns", step.analyzer_idle_ns());
  ns("hand_off_ns", step.hand_off_ns());
  ns("transfer_ns", step.transfer_ns());
  ns("commit_ns", step.commit_ns());
  ns("analyze_ns", step.analyze_ns());
  ns("record_ns", step.record_ns());
  whole("bytes_transferred", ColumnType::kU64, "byte", step.bytes_transferred());
  whole("steps_committed", ColumnType::kU64, "", step.steps_committed());
  whole("steps_persisted", ColumnType::kU64, "", step.steps_persisted());
  whole("skipped_before", ColumnType::kU64, "", step.skipped_before());
  whole("rebuilt", ColumnType::kBool, "", step.rebuilt());
  whole("broke_lease", ColumnType::kBool, "", step.broke_lease());
}

}  // namespace

RecordsTable RecordsTable::read(const std::string& pool, const IterationRange& range) {
  DecodedJournal journal = read_journal(pool);
  ResultNames names;  // the description of a run may follow its first steps
  for (const wire::Record& record : journal.records) names.learn(record);
  for (const SharedLayout& layout : layouts_in(pool)) names.learn(layout);
  std::erase_if(journal.records, [&](const wire::Record& record) {
    return !record.has_analysis_results() && (!record.has_step() || !range.contains(record.step().iteration()));
  });
  RecordsTable table(std::move(journal.records), std::move(names));
  table.damage_ = journal.damage;
  return table;
}

RecordsTable::RecordsTable(std::vector<wire::Record> records, ResultNames names)
    : records_(std::move(records)), names_(std::move(names)) {
  for (const wire::Record& record : records_) {
    const wire::AnalysisResults& results = record.analysis_results();
    for_each_result(results, [&](const std::string& name, double value) {
      analyses_[{results.run_id(), results.commit_seq()}][name] = value;
    });
  }
  std::erase_if(records_, [](const wire::Record& record) { return !record.has_step(); });
  for_each_figure(wire::Record(), [&](const char* name, ColumnType type, const char* unit, const RecordCell&) {
    columns_.push_back({name, type, unit});
  });
  std::vector<std::string> taken;
  for (const RecordColumn& column : columns_) taken.push_back(column.name);
  for (const wire::Record& record : records_) {
    const StepResults results = names_.results(record.step());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ColumnType type = column_type(results.value(i).type);
      const auto [at, is_new] = result_columns_.try_emplace({results.name(i), type}, columns_.size());
      if (!is_new) continue;
      // Runs with different schemas may use the same name for results of different types.
      std::string name = results.name(i);
      if (std::find(taken.begin(), taken.end(), name) != taken.end())
        name = formatted("{} ({})", name, type_text(type));
      taken.push_back(name);
      columns_.push_back({name, type, results.layout() ? results.layout()->results()[i].result->unit : std::string()});
    }
  }
  for (const auto& [step, values] : analyses_) {
    for (const auto& [name, value] : values) {
      const bool is_new = result_columns_.try_emplace({name, ColumnType::kF64}, columns_.size()).second;
      if (is_new) columns_.push_back({name, ColumnType::kF64, ""});
    }
  }
}

std::vector<RecordCell> RecordsTable::row(std::size_t index) const {
  std::vector<RecordCell> cells;
  for_each_figure(records_[index],
                  [&](const char*, ColumnType, const char*, const RecordCell& cell) { cells.push_back(cell); });
  cells.resize(columns_.size(), RecordCell{.present = false, .words = {}, .text = {}});
  const StepResults results = names_.results(records_[index].step());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const StepValue value = results.value(i);
    RecordCell& cell = cells[result_columns_.at({results.name(i), column_type(value.type)})];
    cell.present = value.present;
    std::copy_n(value.words, 2, cell.words);
  }
  const wire::StepRecord& step = records_[index].step();
  if (const auto found = analyses_.find({step.run_id(), step.commit_seq()}); found != analyses_.end()) {
    for (const auto& [name, value] : found->second) {
      RecordCell& cell = cells[result_columns_.at({name, ColumnType::kF64})];
      cell.present = true;
      cell.words[0] = std::bit_cast<std::uint64_t>(value);
    }
  }
  return cells;
}

}  // namespace ringside
