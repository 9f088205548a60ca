// SPDX-License-Identifier: BSD-3-Clause
// The records of a journal's steps as a table: one row per step, with the fields of StepRecord (proto/ringside.proto)
// and every result by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/pool/decoded_journal.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "common/records/result_names.hpp"

namespace ringside {

enum class ColumnType { kU64, kI64, kF64, kI128, kBool, kText };

struct RecordColumn {
  std::string name;
  ColumnType type = ColumnType::kU64;
  std::string unit;  // empty: none
};

struct RecordCell {
  bool present = true;
  std::uint64_t words[2] = {};  // for an i128: the low word first; for an f64: its bits; for a bool: 0 or 1
  std::string text;             // for kText
};

class RecordsTable {
 public:
  /// Reads the steps in the range from the journal beside `pool`. Throws Error (exit code 2) if there is no journal.
  static RecordsTable read(const std::string& pool, const IterationRange& range);
  /// records: the records of steps and of analyses. An analysis's results are further columns in the row of its step.
  RecordsTable(std::vector<wire::Record> records, ResultNames names);

  const std::vector<RecordColumn>& columns() const noexcept { return columns_; }
  std::size_t rows() const noexcept { return records_.size(); }
  /// One cell for each column. The cell of a result that the step does not have is marked as absent.
  std::vector<RecordCell> row(std::size_t index) const;
  /// The part of the journal that could not be read, in words; empty if all was read.
  const std::string& damage() const noexcept { return damage_; }

 private:
  std::vector<wire::Record> records_;  // the records of steps
  ResultNames names_;
  std::map<std::pair<std::string, std::uint64_t>, std::map<std::string, double>> analyses_;  // by run_id and commit_seq
  std::vector<RecordColumn> columns_;
  std::map<std::pair<std::string, ColumnType>, std::size_t> result_columns_;  // by name and type
  std::string damage_;
};

}  // namespace ringside
