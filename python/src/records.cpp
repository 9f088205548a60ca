// SPDX-License-Identifier: BSD-3-Clause
// The journal's records for Python: one at a time as a tuple, or all steps at once as columns. For columns, no Python
// object is made per step, so that a table of 100,000 steps takes less than a second.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <unordered_map>

#include "reader.hpp"

namespace ringside_python {
namespace {

constexpr const char* kKinds[] = {"step",          "run_started",   "run_ended", "analyzer_started",
                                  "steps_missing", "run_described", "mark",      "analysis_results"};
static_assert(std::size(kKinds) == RINGSIDE_RECORD_ANALYSIS_RESULTS - RINGSIDE_RECORD_STEP + 1);

std::string kind_of(const ringside_record& record) {
  const std::uint32_t index = record.kind - RINGSIDE_RECORD_STEP;
  return index < std::size(kKinds) ? kKinds[index] : std::to_string(record.kind);
}

/// The solver's outcome; None if the solver did not end its run itself.
Object outcome_of(const ringside_record& record) {
  constexpr const char* kOutcomes[] = {"finished", "stopped", "diverged", "failed"};
  const std::uint32_t index = record.outcome - RINGSIDE_OUTCOME_FINISHED;
  if (index >= std::size(kOutcomes)) return none();
  return python_of(kOutcomes[index]);
}

/// The numbers of a step's record, in the order of the columns.
struct StepField {
  const char* name;
  std::int64_t (*of)(const ringside_record& record);
};
#define RINGSIDE_FIELD(name)                                                                    \
  {                                                                                             \
#name, [](const ringside_record& record) { return static_cast<std::int64_t>(record.name); } \
  }
constexpr StepField kStepFields[] = {
    RINGSIDE_FIELD(commit_seq),       RINGSIDE_FIELD(iteration),      RINGSIDE_FIELD(step),
    RINGSIDE_FIELD(unix_ns),          RINGSIDE_FIELD(generate_ns),    RINGSIDE_FIELD(producer_idle_ns),
    RINGSIDE_FIELD(analyzer_idle_ns), RINGSIDE_FIELD(hand_off_ns),    RINGSIDE_FIELD(transfer_ns),
    RINGSIDE_FIELD(commit_ns),        RINGSIDE_FIELD(analyze_ns),     RINGSIDE_FIELD(record_ns),
    RINGSIDE_FIELD(bytes_transferred), RINGSIDE_FIELD(skipped_before), RINGSIDE_FIELD(published_at_ns)};
#undef RINGSIDE_FIELD

ringside_record empty_record() {
  ringside_record record{};
  record.size = sizeof(record);
  return record;
}

/// The values of one result in all steps.
struct Column {
  std::string name;
  std::uint32_t type = 0;
  std::vector<ringside_value> words;  // two for each step
  std::vector<std::uint8_t> present;  // for each step

  void put(std::size_t row, const ringside_result& result) {
    words.resize(2 * row);
    present.resize(row);
    const bool is_there = result.values != nullptr;
    ringside_value high{};
    if (is_there) high.i64 = type == RINGSIDE_VALUE_I128 ? result.values[1].i64 : result.values[0].i64 < 0 ? -1 : 0;
    words.push_back(is_there ? result.values[0] : ringside_value{});
    words.push_back(high);
    present.push_back(is_there ? 1 : 0);
  }
};

struct Table {
  std::vector<std::int64_t> fields[std::size(kStepFields)];
  std::vector<Column> columns;
  std::vector<std::string> run_ids;  // the runs of all step records, including records that are not in the table
  std::vector<std::int64_t> runs;    // for each row, the index of its run in run_ids

  std::size_t rows() const noexcept { return fields[0].size(); }

  /// The column of a result. Most records list the same results in the same order; the result is then in column
  /// `guess`.
  Column& column(const ringside_result& result, std::size_t guess) {
    if (guess < columns.size() && columns[guess].name == result.name) return columns[guess];
    for (Column& column : columns) {
      if (column.name == result.name) return column;
    }
    Column& made = columns.emplace_back();
    made.name = result.name;
    made.type = result.type;
    return made;
  }

  void put(const ringside_record& record, const std::vector<ringside_result>& results) {
    const std::size_t row = rows();
    runs.push_back(run(record));
    for (std::size_t f = 0; f < std::size(kStepFields); ++f) fields[f].push_back(kStepFields[f].of(record));
    for (std::size_t r = 0; r < results.size(); ++r) column(results[r], r).put(row, results[r]);
  }

  /// The index of a record's run. A new run is appended.
  std::int64_t run(const ringside_record& record) {
    const std::string_view id(reinterpret_cast<const char*>(record.run_id), sizeof(record.run_id));
    const auto found = std::find(run_ids.rbegin(), run_ids.rend(), id);  // most records are of the last run
    if (found != run_ids.rend()) return run_ids.rend() - found - 1;
    run_ids.emplace_back(id);
    return static_cast<std::int64_t>(run_ids.size()) - 1;
  }

  /// Stores the results of an analysis for the step of a commit, whether or not the step has a row.
  void put_analysis(std::uint64_t commit_seq, const std::vector<ringside_result>& results) {
    for (const ringside_result& result : results) {
      if (result.values != nullptr) analyses.push_back({commit_seq, result.name, result.values[0]});
    }
  }

  /// Call this function after the last row. After the call, each column has a value for each step.
  void end() {
    for (Column& column : columns) {
      column.words.resize(2 * rows());
      column.present.resize(rows());
    }
    std::unordered_map<std::int64_t, std::size_t> row_of;
    for (std::size_t row = 0; !analyses.empty() && row < rows(); ++row) row_of[fields[0][row]] = row;
    for (const Analysis& one : analyses) {
      const auto row = row_of.find(static_cast<std::int64_t>(one.commit_seq));
      if (row == row_of.end()) continue;
      ringside_result named{};
      named.name = one.name.c_str();
      named.type = RINGSIDE_VALUE_F64;
      Column& its = column(named, columns.size());
      its.words.resize(2 * rows());
      its.present.resize(rows());
      its.words[2 * row->second] = one.value;
      its.present[row->second] = 1;
    }
  }

  struct Analysis {
    std::uint64_t commit_seq;
    std::string name;
    ringside_value value;
  };
  std::vector<Analysis> analyses;
};

/// A NumPy array that owns the memory of the vector.
template <class Entry>
Object array_of(std::uint16_t dtype, std::vector<Entry>&& entries, std::vector<Py_ssize_t> shape) {
  auto kept = std::make_unique<std::vector<Entry>>(std::move(entries));
  const Object owner = called(PyCapsule_New(kept.get(), nullptr, [](PyObject* capsule) {
    delete static_cast<std::vector<Entry>*>(PyCapsule_GetPointer(capsule, nullptr));
  }));
  void* const data = kept.release()->data();
  return array_at({"", dtype, RINGSIDE_ROLE_FIELD, std::move(shape), ""}, data, owner.get(), true);
}

}  // namespace

Object Reader::next_record(std::uint64_t from) {
  ringside_record record = empty_record();
  ResultCopies copies;
  std::vector<std::string> texts;
  const ringside_status status = made(Call::kLong, [&](auto* reader) {
    const ringside_status answer = ringside_reader_next_record(reader, from, &record);
    if (answer != RINGSIDE_OK) return answer;
    texts = {record.solver, record.problem, record.parameters, record.how, record.text, record.cause, record.name,
             record.actions};
    const ringside_status listed = list_all(copies.results, [&](auto* out, auto room, auto* count) {
      return ringside_reader_record_results(reader, out, room, count);
    });
    copies.own();  // before a call of another thread
    return listed;
  });
  if (status != RINGSIDE_OK) return none();
  const Object fields = called(PyDict_New());
  const auto put = [&](const char* name, const auto& value) { set(fields, name, python_of(value)); };
  if (record.kind == RINGSIDE_RECORD_STEP) {
    for (const StepField& field : kStepFields) put(field.name, field.of(record));
    called(PyDict_DelItemString(fields.get(), "unix_ns"));  // it is a member of every record
    put("rebuilt", record.rebuilt != 0);
    put("broke_lease", record.broke_lease != 0);
  } else if (record.kind == RINGSIDE_RECORD_ANALYSIS_RESULTS || record.kind == RINGSIDE_RECORD_MARK) {
    put("commit_seq", record.commit_seq);
    put("iteration", record.iteration);
    put("step", record.step);
    if (record.kind == RINGSIDE_RECORD_MARK) {
      put("text", texts[4]);
      put("cause", texts[5]);
      put("name", texts[6]);
      put("actions", texts[7]);
    }
  } else if (record.kind == RINGSIDE_RECORD_RUN_STARTED) {
    put("solver", texts[0]);
    put("problem", texts[1]);
    put("parameters", texts[2]);
  } else if (record.kind == RINGSIDE_RECORD_RUN_ENDED) {
    put("how", texts[3]);
    put("text", texts[4]);
    put("exit_code", record.exit_code);
    put("outcome", outcome_of(record));
  }
  return tuple_of(record.seq, kind_of(record), record.unix_ns, bytes_of(record.run_id), fields, copies.listed());
}

Object Reader::recorded(const std::optional<std::string>& run_id, std::uint64_t first, std::uint64_t newest, double wait_s) {
  using std::chrono::steady_clock;
  constexpr std::chrono::nanoseconds kFirst = std::chrono::microseconds(100), kLast = std::chrono::milliseconds(10);
  if (run_id && run_id->size() != sizeof(ringside_record::run_id)) refuse("run_id: expected 16 bytes");
  const auto limit = std::chrono::duration<double>(std::clamp(wait_s, 0.0, 1e9));
  const auto give_up = steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit);
  Table table;
  ringside_record record = empty_record();
  std::vector<ringside_result> results;
  std::uint64_t from = 1, found = 0;  // seq of the next record, commit_seq of the newest step found
  const auto read = [&](auto* reader) {
    for (;; from = record.seq + 1) {
      ringside_status answer = ringside_reader_next_record(reader, from, &record);
      if (answer != RINGSIDE_OK) return answer;
      const bool is_analysis = record.kind == RINGSIDE_RECORD_ANALYSIS_RESULTS;
      if (record.kind != RINGSIDE_RECORD_STEP && !is_analysis) continue;
      if (!is_analysis) {
        found = std::max(found, record.commit_seq);
        table.run(record);
      }
      if (record.commit_seq < first) continue;
      if (run_id && std::memcmp(record.run_id, run_id->data(), run_id->size()) != 0) continue;
      answer = list_all(results, [&](auto* out, auto room, auto* count) {
        return ringside_reader_record_results(reader, out, room, count);
      });
      if (answer != RINGSIDE_OK) return answer;
      if (is_analysis) {
        table.put_analysis(record.commit_seq, results);
      } else {
        table.put(record, results);
      }
    }
  };
  // The record of a step is written soon after the step is committed and reduced, if an analyzer is alive. The first
  // record of a pool creates the journal.
  for (std::chrono::nanoseconds wait = kFirst; made(Call::kLong, read), found < newest;
       wait = std::min(2 * wait, kLast)) {
    if (steady_clock::now() >= give_up) break;
    {
      const Released released;
      const timespec duration{0, static_cast<long>(wait.count())};
      nanosleep(&duration, nullptr);
    }
    called(PyErr_CheckSignals());
  }
  table.end();
  const auto rows = static_cast<Py_ssize_t>(table.rows());
  const Object fields = called(PyDict_New()), columns = called(PyList_New(0));
  for (std::size_t f = 0; f < std::size(kStepFields); ++f) {
    set(fields, kStepFields[f].name, array_of(RINGSIDE_I64, std::move(table.fields[f]), {rows}));
  }
  for (Column& column : table.columns) {
    const Object present = array_of(RINGSIDE_U8, std::move(column.present), {rows});
    append(columns, tuple_of(column.name, column.type, array_of(RINGSIDE_I64, std::move(column.words), {rows, 2}),
                             called(PyObject_CallMethod(present.get(), "view", "s", "?"))));
  }
  const Object run_ids = called(PyList_New(0));
  for (const std::string& id : table.run_ids) {
    append(run_ids, called(PyBytes_FromStringAndSize(id.data(), static_cast<Py_ssize_t>(id.size()))));
  }
  return tuple_of(fields, columns, found >= newest, array_of(RINGSIDE_I64, std::move(table.runs), {rows}), run_ids);
}

}  // namespace ringside_python
