// SPDX-License-Identifier: BSD-3-Clause
// The reading half of the module: a ringside_reader and the steps that it holds as Python objects.
#include "reader.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "signal_watch.hpp"

namespace ringside_python {
namespace {

/// A step of a pool: (commit_seq, iteration, step, run_id).
Object info_tuple(const ringside_step_info& info) {
  return tuple_of(info.commit_seq, info.iteration, info.step, bytes_of(info.run_id));
}

}  // namespace

/// Arrays of a held step have this object as their base. As long as one of them exists, the pool stays mapped and the
/// step held, unless the step is released.
class HeldStep {
 public:
  HeldStep(PyObject* reader, ringside_step* step) : owner_(borrowed(reader)), reader_(value_of<Reader>(reader)), step_(step) {
    info_.size = sizeof(info_);
    ringside_error error;  // ignored: every later call also finds a broken lease
    reader_.status_of(Call::kShort, error, [&](auto*) { return ringside_step_describe(step_, &info_); });
  }
  ~HeldStep() {
    ringside_error error;  // ignored: a destructor cannot raise; users of arrays call check or release
    if (step_ != nullptr) reader_.status_of(Call::kShort, error, [&](auto*) { return ringside_step_release(step_); });
  }
  HeldStep(const HeldStep&) = delete;
  HeldStep& operator=(const HeldStep&) = delete;

  bool is_held() const { return step_ != nullptr; }
  Object info() const { return info_tuple(info_); }
  /// self: this object, to which the array refers.
  Object view(PyObject* self, std::uint32_t index, bool verify);
  void verify() {
    made(Call::kLong, [](ringside_step* step) { return ringside_step_verify(step, RINGSIDE_ALL_VARIABLES); });
  }
  void check() { made(Call::kShort, ringside_step_check); }
  void release() {
    reader_.made(Call::kShort, [&](auto*) {
      ringside_step* const step = std::exchange(step_, nullptr);  // freed whatever the result of the last check is
      return step != nullptr ? ringside_step_release(step) : RINGSIDE_OK;
    });
  }

 private:
  template <class Function>
  void made(Call kind, const Function& call) {
    bool held = false;
    reader_.made(kind, [&](auto*) {  // checked here: without the handle, another thread could release the step
      held = step_ != nullptr;
      return held ? call(step_) : RINGSIDE_OK;
    });
    if (!held) refuse("iteration " + std::to_string(info_.iteration) + ": the step was released; hold it again");
  }

  Object owner_;  // keeps the reader alive
  Reader& reader_;
  ringside_step* step_ = nullptr;
  ringside_step_info info_{};
};

Object HeldStep::view(PyObject* self, std::uint32_t index, bool verify) {
  const Variable& variable = reader_.variable(index);
  const void* data = nullptr;
  std::size_t bytes = 0;
  made(Call::kShort, [&](ringside_step* step) { return ringside_step_view(step, index, &data, &bytes); });
  if (verify) made(Call::kLong, [&](ringside_step* step) { return ringside_step_verify(step, index); });
  return array_at(variable, data, self, false);
}

Reader::Reader(const std::string& pool, double wait_s) {
  using std::chrono::steady_clock;
  const auto began = steady_clock::now();
  ringside_reader_options options{};
  options.size = sizeof(options);
  options.stop = &stop_;
  SignalWatch::find_handlers();
  {
    SignalWatch watch(stop_);
    for (;;) {
      const std::chrono::duration<double> waited = steady_clock::now() - began;
      options.wait_s = wait_s > 0 ? std::max(wait_s - waited.count(), 0.0) : wait_s;
      ringside_error error{};
      error.size = sizeof(error);
      ringside_status status = RINGSIDE_OK;
      {
        const Released released;
        status = ringside_reader_open(pool.c_str(), &options, &reader_.handle, &error);
      }
      if (status == RINGSIDE_OK) break;
      if (status != RINGSIDE_INTERRUPTED || !watch.came()) raise(error);
    }
  }
  stop_ = 0;  // a signal may have set it at the end of the last wait
  std::vector<ringside_variable> variables;
  made(Call::kShort, [&](auto* reader) {
    return list_all(variables, [&](auto* out, auto room, auto* count) {
      return ringside_reader_variables(reader, out, room, count);
    });
  });
  for (const ringside_variable& given : variables) {
    variables_.push_back({given.name, given.dtype, given.role, {given.shape, given.shape + given.dims}, given.unit});
  }
}

Object Reader::variables() const {
  Object made = called(PyList_New(0));
  for (const Variable& variable : variables_) {
    append(made, tuple_of(variable.name, name_of(variable.dtype), variable.role, tuple_of(variable.shape), variable.unit));
  }
  return made;
}

Object Reader::runs() {
  std::vector<ringside_run> runs;
  std::vector<std::string> texts;  // copied before another thread's call can invalidate them
  made(Call::kShort, [&](auto* reader) {
    const ringside_status status = list_all(
        runs, [&](auto* out, auto room, auto* count) { return ringside_reader_runs(reader, out, room, count); });
    for (const ringside_run& run : runs) texts.insert(texts.end(), {run.solver, run.problem, run.parameters});
    return status;
  });
  Object listed = called(PyList_New(0));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const ringside_run& run = runs[r];
    append(listed, tuple_of(bytes_of(run.run_id), bytes_of(run.problem_id), static_cast<double>(run.started_unix_ns) * 1e-9,
                            run.work, texts[3 * r], texts[3 * r + 1], texts[3 * r + 2]));
  }
  return listed;
}

Object Reader::steps() {
  std::vector<ringside_step_info> infos;
  made(Call::kShort, [&](auto* reader) {
    return list_all(infos,
                    [&](auto* out, auto room, auto* count) { return ringside_reader_steps(reader, out, room, count); });
  });
  Object listed = called(PyList_New(0));
  for (const ringside_step_info& info : infos) append(listed, info_tuple(info));
  return listed;
}

Object Reader::next(std::uint64_t after, std::optional<double> timeout_s, bool all_runs) {
  // The waits between two checks are those of ringside_reader_next. Unlike in ringside_reader_next, other threads can
  // use the handle during a wait, and a signal ends the wait.
  constexpr std::chrono::nanoseconds kFirst = std::chrono::microseconds(50), kLast = std::chrono::milliseconds(2);
  using std::chrono::steady_clock;
  const auto limit = std::chrono::duration<double>(std::clamp(timeout_s.value_or(0), 0.0, 1e9));
  const auto give_up = steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit);
  ringside_step_info info{};
  info.size = sizeof(info);
  std::chrono::nanoseconds wait = kFirst;
  for (;;) {
    ringside_error error{};
    const ringside_status status =
        status_of(Call::kShort, error, [&](auto* reader) { return ringside_reader_next(reader, after, 0, &info); });
    if (status == RINGSIDE_OK) return info_tuple(info);
    // all_runs acts like RINGSIDE_FOLLOW_POOL, but that option is for a reader and not for a single call.
    const bool is_over = status == RINGSIDE_END || status == RINGSIDE_PEER_LOST;
    if (status > 0 && !(is_over && all_runs)) raise(error);
    if (is_over && !all_runs) return none();
    if (timeout_s && steady_clock::now() >= give_up) return none();
    {
      const Released released;
      const timespec duration{0, static_cast<long>(wait.count())};
      nanosleep(&duration, nullptr);
    }
    called(PyErr_CheckSignals());
    wait = std::min(2 * wait, kLast);
  }
}

ringside_step* Reader::hold(std::uint64_t commit_seq) {
  ringside_step* step = nullptr;
  made(Call::kShort, [&](auto* reader) { return ringside_reader_hold(reader, commit_seq, &step); });
  return step;
}

Object Reader::copy(std::uint64_t commit_seq, std::uint32_t index) {
  const Variable& described = variable(index);
  const auto [copied, data] = new_array(described);
  void* const to = data;
  const std::size_t bytes = described.bytes();
  made(Call::kLong, [&](auto* reader) { return ringside_reader_copy(reader, commit_seq, index, to, bytes); });
  return copied;
}

namespace {

/// The int with the two words of an i128.
Object int_of(const ringside_value* words) {
  const Object shifted = called(PyNumber_Lshift(python_of(words[1].i64).get(), python_of(64).get()));
  return called(PyNumber_Or(shifted.get(), python_of(static_cast<std::uint64_t>(words[0].i64)).get()));
}

/// A copy of the values as an array.
Object array_of(std::uint16_t dtype, const void* values, Py_ssize_t count) {
  const Variable variable{"", dtype, RINGSIDE_ROLE_FIELD, {count}, ""};
  auto [array, data] = new_array(variable);
  std::memcpy(data, values, variable.bytes());
  return array;
}

Object value_of(const ringside_result& result) {
  if (result.values == nullptr) return none();
  const auto count = static_cast<Py_ssize_t>(result.count);
  if (result.type == RINGSIDE_VALUE_I128) {
    if (count == 1) return int_of(result.values);
    Object numbers = called(PyList_New(0));
    for (Py_ssize_t i = 0; i < count; ++i) append(numbers, int_of(result.values + 2 * i));
    return numbers;
  }
  if (result.type == RINGSIDE_VALUE_I64) {
    return count == 1 ? python_of(result.values->i64) : array_of(RINGSIDE_I64, &result.values->i64, count);
  }
  return count == 1 ? python_of(result.values->f64) : array_of(RINGSIDE_F64, &result.values->f64, count);
}

}  // namespace

void ResultCopies::own() {
  const auto words_of = [](const ringside_result& result) {
    return result.values == nullptr ? 0 : result.count * (result.type == RINGSIDE_VALUE_I128 ? 2 : 1);
  };
  std::size_t words = 0;
  texts.clear();
  for (const ringside_result& result : results) {
    texts.insert(texts.end(), {result.name, result.unit});
    words += words_of(result);
  }
  values.clear();
  values.reserve(words);
  for (ringside_result& result : results) {
    if (result.values == nullptr) continue;
    const ringside_value* const from = result.values;
    result.values = values.data() + values.size();
    values.insert(values.end(), from, from + words_of(result));
  }
}

Object ResultCopies::listed() const {
  Object made = called(PyList_New(0));
  for (std::size_t i = 0; i < results.size(); ++i) {
    append(made, tuple_of(texts[2 * i], texts[2 * i + 1], results[i].type, results[i].count, value_of(results[i])));
  }
  return made;
}

Object Reader::results(std::uint64_t commit_seq) {
  ResultCopies copies;
  made(Call::kShort, [&](auto* reader) {
    const ringside_status answer = list_all(copies.results, [&](auto* out, auto room, auto* count) {
      return ringside_reader_results(reader, commit_seq, out, room, count);
    });
    copies.own();  // before a call of another thread
    return answer;
  });
  return copies.listed();
}

namespace {

PyTypeObject* held_step_type = nullptr;

constexpr const char* kView[] = {"index", "verify"};

Object view(HeldStep& step, PyObject* self, const std::array<PyObject*, 2>& given) {
  return step.view(self, number_of<std::uint32_t>(given[0]), truth_of(given[1]));
}

PyMethodDef held_methods[] = {
    {"info", method<HeldStep, &HeldStep::info>, METH_NOARGS,
     "info($self)\n--\n\n(commit_seq, iteration, step, run_id)."},
    with_arguments("view", method<HeldStep, kView, view>,
                   "view($self, index, verify)\n--\n\nA variable in place, read-only."),
    {"verify", method<HeldStep, &HeldStep::verify>, METH_NOARGS, "verify($self)\n--\n\nHashes all variables in place."},
    {"check", method<HeldStep, &HeldStep::check>, METH_NOARGS,
     "check($self)\n--\n\nRaises OverwrittenError if the slot has taken another step."},
    {"release", method<HeldStep, &HeldStep::release>, METH_NOARGS,
     "release($self)\n--\n\nChecks a last time, and ends the hold."},
    {}};

PyGetSetDef held_properties[] = {{"held", getter<HeldStep, &HeldStep::is_held>, nullptr, "False after release.", nullptr}, {}};

PyObject* make_reader(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* const kNames[] = {"pool", "wait_s", nullptr};
  PyObject *pool = nullptr, *wait_s = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "OO:Reader", const_cast<char**>(kNames), &pool, &wait_s) == 0) {
    return nullptr;
  }
  return guarded<PyObject*>(nullptr, [&] {
    return instance_of(type, std::make_unique<Reader>(text_of(pool), real_of(wait_s))).release();
  });
}

constexpr const char* kNext[] = {"after", "timeout_s", "all_runs"};
constexpr const char* kCommit[] = {"commit_seq"};
constexpr const char* kCopy[] = {"commit_seq", "index"};
constexpr const char* kFrom[] = {"from_seq"};
constexpr const char* kRecorded[] = {"run_id", "first", "newest", "wait_s"};

Object next(Reader& reader, PyObject*, const std::array<PyObject*, 3>& given) {
  return reader.next(number_of<std::uint64_t>(given[0]), given[1] == Py_None ? std::nullopt : std::optional(real_of(given[1])),
                     truth_of(given[2]));
}
Object hold(Reader& reader, PyObject* self, const std::array<PyObject*, 1>& given) {
  ringside_step* const step = reader.hold(number_of<std::uint64_t>(given[0]));
  return step == nullptr ? none() : instance_of(held_step_type, std::make_unique<HeldStep>(self, step));
}
Object copy(Reader& reader, PyObject*, const std::array<PyObject*, 2>& given) {
  return reader.copy(number_of<std::uint64_t>(given[0]), number_of<std::uint32_t>(given[1]));
}
Object results(Reader& reader, PyObject*, const std::array<PyObject*, 1>& given) {
  return reader.results(number_of<std::uint64_t>(given[0]));
}
Object next_record(Reader& reader, PyObject*, const std::array<PyObject*, 1>& given) {
  return reader.next_record(number_of<std::uint64_t>(given[0]));
}
Object recorded(Reader& reader, PyObject*, const std::array<PyObject*, 4>& given) {
  return reader.recorded(optional_text_of(given[0]), number_of<std::uint64_t>(given[1]), number_of<std::uint64_t>(given[2]),
                         real_of(given[3]));
}

PyMethodDef reader_methods[] = {
    {"variables", method<Reader, &Reader::variables>, METH_NOARGS,
     "variables($self)\n--\n\n[(name, dtype, role, shape, unit)]."},
    {"runs", method<Reader, &Reader::runs>, METH_NOARGS,
     "runs($self)\n--\n\n[(run_id, problem_id, started_s, work, solver, problem, parameters)]."},
    {"steps", method<Reader, &Reader::steps>, METH_NOARGS,
     "steps($self)\n--\n\n[(commit_seq, iteration, step, run_id)], ascending."},
    with_arguments("next", method<Reader, kNext, next>,
                   "next($self, after, timeout_s, all_runs)\n--\n\n"
                   "Waits for a step after the commit `after`. Returns the oldest such step, or None if the time or "
                   "the run has ended."),
    with_arguments("hold", method<Reader, kCommit, hold>,
                   "hold($self, commit_seq)\n--\n\nHolds a step. None: there is no such step."),
    with_arguments("copy", method<Reader, kCopy, copy>,
                   "copy($self, commit_seq, index)\n--\n\nA verified copy of a variable."),
    with_arguments("results", method<Reader, kCommit, results>,
                   "results($self, commit_seq)\n--\n\n"
                   "[(name, unit, type, count, value)]; empty if the pool does not describe the run."),
    with_arguments("next_record", method<Reader, kFrom, next_record>,
                   "next_record($self, from_seq)\n--\n\n"
                   "(seq, kind, unix_ns, run_id, {field: value}, [(name, unit, type, count, value)]), or None."),
    with_arguments(
        "recorded", method<Reader, kRecorded, recorded>,
        "recorded($self, run_id, first, newest, wait_s)\n--\n\n"
        "The steps in the journal from the commit_seq `first` on, as columns: ({name: array}, [(name, type, words,\n"
        "present)], there, runs, run_ids). Waits up to wait_s seconds for the step `newest`. there: whether the\n"
        "journal has that step. runs: for each row, the index of its run in run_ids. run_ids: all runs with steps\n"
        "in the journal."),
    {}};

}  // namespace

void define_reader(PyObject* module) {
  PyType_Slot held_slots[] = {{Py_tp_doc, const_cast<char*>("A step that a reader holds: ringside_step.")},
                              {Py_tp_new, reinterpret_cast<void*>(refuse_new)},
                              {Py_tp_dealloc, reinterpret_cast<void*>(destroy_instance<HeldStep>)},
                              {Py_tp_methods, held_methods},
                              {Py_tp_getset, held_properties},
                              {}};
  held_step_type = add_type(module, "ringside._core.HeldStep", sizeof(Instance<HeldStep>), held_slots);
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("Reader(pool, wait_s)\n--\n\nA pool that is read: ringside_reader.")},
      {Py_tp_new, reinterpret_cast<void*>(make_reader)},
      {Py_tp_dealloc, reinterpret_cast<void*>(destroy_instance<Reader>)},
      {Py_tp_methods, reader_methods},
      {}};
  add_type(module, "ringside._core.Reader", sizeof(Instance<Reader>), slots);
}

}  // namespace ringside_python
