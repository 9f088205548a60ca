// SPDX-License-Identifier: BSD-3-Clause
// The reading half of the module: a ringside_reader and the steps that it holds as Python objects.
#include "reader.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>

#include "signal_watch.hpp"

namespace ringside_python {
namespace {

/// A step of a pool: (commit_seq, iteration, step, run_id).
py::tuple info_tuple(const ringside_step_info& info) {
  return py::make_tuple(info.commit_seq, info.iteration, info.step,
                        py::bytes(reinterpret_cast<const char*>(info.run_id), sizeof(info.run_id)));
}

}  // namespace

/// Arrays of a held step have this object as their base: the pool stays mapped and the step held as long as there is
/// one, unless the step is released.
class HeldStep {
 public:
  HeldStep(std::shared_ptr<Reader> reader, ringside_step* step) : reader_(std::move(reader)), step_(step) {
    info_.size = sizeof(info_);
    ringside_error error;  // a lease that was broken since is found by every later call
    reader_->status_of(Call::kShort, error, [&](auto*) { return ringside_step_describe(step_, &info_); });
  }
  ~HeldStep() {
    ringside_error error;  // a destructor raises nothing: code that used the step's arrays calls check or release
    if (step_ != nullptr) reader_->status_of(Call::kShort, error, [&](auto*) { return ringside_step_release(step_); });
  }
  HeldStep(const HeldStep&) = delete;
  HeldStep& operator=(const HeldStep&) = delete;

  bool is_held() const { return step_ != nullptr; }
  py::tuple info() const { return info_tuple(info_); }
  static py::object view(const py::object& self, std::uint32_t index, bool verify);
  void verify() {
    made(Call::kLong, [](ringside_step* step) { return ringside_step_verify(step, RINGSIDE_ALL_VARIABLES); });
  }
  void check() { made(Call::kShort, ringside_step_check); }
  void release() {
    reader_->made(Call::kShort, [&](auto*) {
      ringside_step* const step = std::exchange(step_, nullptr);  // freed whatever the last check says
      return step != nullptr ? ringside_step_release(step) : RINGSIDE_OK;
    });
  }

 private:
  template <class Function>
  void made(Call kind, const Function& call) {
    bool held = false;
    reader_->made(kind, [&](auto*) {  // not before: another thread may release the step until the handle is ours
      held = step_ != nullptr;
      return held ? call(step_) : RINGSIDE_OK;
    });
    if (!held) refuse("iteration " + std::to_string(info_.iteration) + ": the step was released; hold it again");
  }

  std::shared_ptr<Reader> reader_;
  ringside_step* step_ = nullptr;
  ringside_step_info info_{};
};

py::object HeldStep::view(const py::object& self, std::uint32_t index, bool verify) {
  HeldStep& held = self.cast<HeldStep&>();
  const Variable& variable = held.reader_->variable(index);
  const void* data = nullptr;
  std::size_t bytes = 0;
  held.made(Call::kShort, [&](ringside_step* step) { return ringside_step_view(step, index, &data, &bytes); });
  if (verify) held.made(Call::kLong, [&](ringside_step* step) { return ringside_step_verify(step, index); });
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
  stop_ = 0;  // of a signal that came at the end
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

py::list Reader::variables() const {
  py::list made;
  for (const Variable& variable : variables_) {
    made.append(py::make_tuple(variable.name, name_of(variable.dtype), variable.role,
                               py::tuple(py::cast(variable.shape)), variable.unit));
  }
  return made;
}

py::list Reader::runs() {
  std::vector<ringside_run> runs;
  std::vector<std::string> texts;  // copied before another thread can make a call: until then they are valid
  made(Call::kShort, [&](auto* reader) {
    const ringside_status status = list_all(
        runs, [&](auto* out, auto room, auto* count) { return ringside_reader_runs(reader, out, room, count); });
    for (const ringside_run& run : runs) texts.insert(texts.end(), {run.solver, run.problem, run.parameters});
    return status;
  });
  py::list listed;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const ringside_run& run = runs[r];
    listed.append(py::make_tuple(py::bytes(reinterpret_cast<const char*>(run.run_id), sizeof(run.run_id)),
                                 py::bytes(reinterpret_cast<const char*>(run.problem_id), sizeof(run.problem_id)),
                                 static_cast<double>(run.started_unix_ns) * 1e-9, run.work, texts[3 * r],
                                 texts[3 * r + 1], texts[3 * r + 2]));
  }
  return listed;
}

py::list Reader::steps() {
  std::vector<ringside_step_info> infos;
  made(Call::kShort, [&](auto* reader) {
    return list_all(infos,
                    [&](auto* out, auto room, auto* count) { return ringside_reader_steps(reader, out, room, count); });
  });
  py::list listed;
  for (const ringside_step_info& info : infos) listed.append(info_tuple(info));
  return listed;
}

py::object Reader::next(std::uint64_t after, std::optional<double> timeout_s, bool all_runs) {
  // The waits between two looks, as ringside_reader_next makes them. Here no other thread waits for the handle
  // meanwhile, and a signal ends a wait.
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
    // As RINGSIDE_FOLLOW_POOL, which is for a reader and not for a call.
    const bool is_over = status == RINGSIDE_END || status == RINGSIDE_PEER_LOST;
    if (status > 0 && !(is_over && all_runs)) raise(error);
    if (is_over && !all_runs) return py::none();
    if (timeout_s && steady_clock::now() >= give_up) return py::none();
    {
      const Released released;
      const timespec duration{0, static_cast<long>(wait.count())};
      nanosleep(&duration, nullptr);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    wait = std::min(2 * wait, kLast);
  }
}

std::unique_ptr<HeldStep> Reader::hold(std::uint64_t commit_seq) {
  ringside_step* step = nullptr;
  const ringside_status status =
      made(Call::kShort, [&](auto* reader) { return ringside_reader_hold(reader, commit_seq, &step); });
  if (status != RINGSIDE_OK) return nullptr;
  return std::make_unique<HeldStep>(shared_from_this(), step);
}

py::object Reader::copy(std::uint64_t commit_seq, std::uint32_t index) {
  const Variable& described = variable(index);
  const auto [copied, data] = new_array(described);
  void* const to = data;
  const std::size_t bytes = described.bytes();
  made(Call::kLong, [&](auto* reader) { return ringside_reader_copy(reader, commit_seq, index, to, bytes); });
  return copied;
}

namespace {

/// An int of the two words of an i128.
py::object int_of(const ringside_value* words) {
  const py::int_ low(static_cast<std::uint64_t>(words[0].i64)), high(words[1].i64);
  return (high << py::int_(64)) | low;
}

/// A copy of the values as an array.
py::object array_of(std::uint16_t dtype, const void* values, py::ssize_t count) {
  const Variable variable{"", dtype, RINGSIDE_ROLE_FIELD, {count}, ""};
  auto [array, data] = new_array(variable);
  std::memcpy(data, values, variable.bytes());
  return array;
}

py::object value_of(const ringside_result& result) {
  if (result.values == nullptr) return py::none();
  const auto count = static_cast<py::ssize_t>(result.count);
  if (result.type == RINGSIDE_VALUE_I128) {
    if (count == 1) return int_of(result.values);
    py::list numbers;
    for (py::ssize_t i = 0; i < count; ++i) numbers.append(int_of(result.values + 2 * i));
    return numbers;
  }
  if (result.type == RINGSIDE_VALUE_I64) {
    if (count == 1) return py::int_(result.values->i64);
    return array_of(RINGSIDE_I64, &result.values->i64, count);
  }
  if (count == 1) return py::float_(result.values->f64);
  return array_of(RINGSIDE_F64, &result.values->f64, count);
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

py::list ResultCopies::listed() const {
  py::list made;
  for (std::size_t i = 0; i < results.size(); ++i) {
    made.append(
        py::make_tuple(texts[2 * i], texts[2 * i + 1], results[i].type, results[i].count, value_of(results[i])));
  }
  return made;
}

py::list Reader::results(std::uint64_t commit_seq) {
  ResultCopies copies;
  made(Call::kShort, [&](auto* reader) {
    const ringside_status answer = list_all(copies.results, [&](auto* out, auto room, auto* count) {
      return ringside_reader_results(reader, commit_seq, out, room, count);
    });
    copies.own();  // before another thread can make a call
    return answer;
  });
  return copies.listed();
}

void define_reader(py::module_& module) {
  py::class_<HeldStep>(module, "HeldStep", "A step that a reader holds: ringside_step.")
      .def_property_readonly("held", &HeldStep::is_held, "False after release.")
      .def("info", &HeldStep::info, "(commit_seq, iteration, step, run_id).")
      .def("view", &HeldStep::view, py::arg("index"), py::arg("verify"), "A variable in place, read-only.")
      .def("verify", &HeldStep::verify, "Hashes all variables in place.")
      .def("check", &HeldStep::check, "Raises OverwrittenError if the slot has taken another step.")
      .def("release", &HeldStep::release, "The last check, and the end of the hold.");
  py::class_<Reader, std::shared_ptr<Reader>>(module, "Reader", "A pool that is read: ringside_reader.")
      .def(py::init([](const std::string& pool, double wait_s) { return std::make_shared<Reader>(pool, wait_s); }),
           py::arg("pool"), py::arg("wait_s"))
      .def("variables", &Reader::variables, "[(name, dtype, role, shape, unit)].")
      .def("runs", &Reader::runs, "[(run_id, problem_id, started_s, work, solver, problem, parameters)].")
      .def("steps", &Reader::steps, "[(commit_seq, iteration, step, run_id)], ascending.")
      .def("next", &Reader::next, py::arg("after"), py::arg("timeout_s"), py::arg("all_runs"),
           "The oldest step after that commit, waiting for one; None when the time is over or the run has ended.")
      .def("hold", &Reader::hold, py::arg("commit_seq"), "Holds a step. None: there is no such step.")
      .def("copy", &Reader::copy, py::arg("commit_seq"), py::arg("index"), "A verified copy of a variable.")
      .def("results", &Reader::results, py::arg("commit_seq"),
           "[(name, unit, type, count, value)]; none if the pool does not describe the run.")
      .def("next_record", &Reader::next_record, py::arg("from_seq"),
           "(seq, kind, unix_ns, run_id, {field: value}, [(name, unit, type, count, value)]), or None.")
      .def("recorded", &Reader::recorded, py::arg("run_id"), py::arg("first"), py::arg("newest"), py::arg("wait_s"),
           "The steps in the journal from the commit_seq `first` on as columns: ({name: array}, [(name, type, words, "
           "present)], there). Waits until the step `newest` is among them, which `there` says.");
}

}  // namespace ringside_python
