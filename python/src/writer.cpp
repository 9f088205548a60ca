// SPDX-License-Identifier: BSD-3-Clause
#include "writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "signal_watch.hpp"

namespace ringside_python {
namespace {

const char* text(const std::optional<std::string>& given) {
  return given ? given->c_str() : nullptr;
}

/// The names as a Python list.
Object listed(const std::vector<Object>& names) {
  Object made = called(PyList_New(0));
  for (const Object& name : names) append(made, name);
  return made;
}

/// A value for a message: its repr if that is short, otherwise its type.
std::string shown(PyObject* given) {
  const std::string text = repr(given);
  if (text.size() <= 60 && text.find('\n') == std::string::npos) return text;
  return "a " + str(attribute(reinterpret_cast<PyObject*>(Py_TYPE(given)), "__name__").get());
}

/// Whether `given` is a whole number of 64 bits, which is stored in `number`. (numpy.bool_ has no __index__, but is
/// equal to a whole number.)
bool is_whole(PyObject* given, std::int64_t& number) {
  Object whole(PyNumber_Index(given));
  if (!whole && !PyFloat_Check(given)) {
    PyErr_Clear();
    whole = Object(PyNumber_Long(given));
    if (whole && PyObject_RichCompareBool(whole.get(), given, Py_EQ) != 1) whole = {};
  }
  if (whole) number = PyLong_AsLongLong(whole.get());
  const bool fits = whole && !PyErr_Occurred();
  PyErr_Clear();
  return fits;
}

bool is_real(PyObject* given, double& number) {
  number = PyFloat_AsDouble(given);
  const bool fits = number != -1 || !PyErr_Occurred();
  PyErr_Clear();
  return fits;
}

}  // namespace

Writer::Writer(std::vector<Variable> variables, const std::vector<Scalar>& scalars, const Options& options)
    : variables_(std::move(variables)), numbers_(called(PyDict_New())) {
  std::vector<ringside_variable> given_variables;
  for (const Variable& own : variables_) {
    const Object& name = names_.emplace_back(interned(own.name));
    called(PyDict_SetItem(numbers_.get(), name.get(), python_of(given_variables.size()).get()));
    if (own.shape.size() > RINGSIDE_MOST_DIMS) {
      refuse("variable '" + own.name + "': found " + std::to_string(own.shape.size()) + " dimensions; expected 0 to 8");
    }
    ringside_variable& given = given_variables.emplace_back();
    given = {};
    given.size = sizeof(given);
    given.dtype = own.dtype;
    given.role = own.role;
    given.dims = static_cast<std::uint32_t>(own.shape.size());
    given.name = own.name.c_str();
    given.unit = own.unit.c_str();
    for (std::size_t d = 0; d < own.shape.size(); ++d) given.shape[d] = static_cast<std::uint64_t>(own.shape[d]);
  }
  std::vector<ringside_scalar> given_scalars;
  for (const Scalar& scalar : scalars) {
    given_scalars.push_back({sizeof(ringside_scalar), scalar.type, scalar.name.c_str(), scalar.unit.c_str()});
    scalar_types_.push_back(scalar.type);
    scalar_names_.push_back(interned(scalar.name));
  }
  ringside_writer_options given{};
  given.size = sizeof(given);
  given.buffers = options.buffers;
  given.socket = text(options.socket);
  given.pool = text(options.pool);
  given.run_options = text(options.run_options);
  given.peer_timeout_s = options.peer_timeout_s;
  given.pool_use = options.pool_use;
  given.on_analyzer_loss = options.on_analyzer_loss;
  given.solver = text(options.solver);
  given.problem = text(options.problem);
  given.parameters = text(options.parameters);
  given.problem_bytes = options.problem_bytes.data();
  given.problem_bytes_count = options.problem_bytes.size();
  given.work = options.work;
  given.stop = &stop_;
  given.coordination = options.coordination;
  SignalWatch::find_handlers();
  SignalWatch watch(stop_);
  for (;;) {
    ringside_error error{};
    error.size = sizeof(error);
    ringside_status status = RINGSIDE_OK;
    {
      const Released released;
      status = ringside_writer_attach(&given, given_variables.data(), given_variables.size(), given_scalars.data(),
                                      given_scalars.size(), &writer_.handle, &error);
    }
    if (status == RINGSIDE_OK) break;
    if (status != RINGSIDE_INTERRUPTED || !watch.came()) raise(error);
  }
  last_ = kept().value_or(0);
  written_.resize(variables_.size());
  for (const Variable& own : variables_) {
    bytes_.push_back(own.bytes());
    step_bytes_ += own.bytes();
  }
}

std::uint32_t Writer::index(PyObject* name) const {
  PyObject* number = PyDict_GetItemWithError(numbers_.get(), name);
  if (number != nullptr) return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(number));
  PyErr_Clear();  // an unhashable object is an unknown name, too
  refuse_name("no_variable", tuple_of(borrowed(name), numbers_, listed(scalar_names_)));
}

Object Writer::kept_variable(std::uint32_t index) {
  if (index >= variables_.size()) refuse("no variable has that number");
  const Variable& variable = variables_[index];
  const auto [copied, data] = new_array(variable);
  void* const to = data;
  const std::size_t room = variable.bytes();
  const ringside_status status = made(Call::kLong, [&](auto* writer) {
    const void* from = nullptr;
    std::size_t bytes = 0;
    const ringside_status found = ringside_writer_kept_variable(writer, index, &from, &bytes);
    if (found == RINGSIDE_OK) std::memcpy(to, from, std::min(bytes, room));
    return found;
  });
  if (status != RINGSIDE_OK) refuse(variable.name + ": the kept step can be read only before the first publish");
  return copied;
}

Object Writer::kept_scalar(std::uint32_t index) {
  ringside_value value{};
  const ringside_status status =
      short_call([&](auto* writer) { return ringside_writer_kept_scalar(writer, index, &value); });
  if (status != RINGSIDE_OK) return none();
  return scalar_types_[index] == RINGSIDE_VALUE_I64 ? python_of(value.i64) : python_of(value.f64);
}

std::uint64_t iteration_of(PyObject* given) {
  const Object number(PyNumber_Index(given));
  if (number) {
    const unsigned long long iteration = PyLong_AsUnsignedLongLong(number.get());
    if (!PyErr_Occurred()) return iteration;
  }
  PyErr_Clear();
  refuse("an iteration: found " + shown(given) + ", expected a whole number, 1 to 2^64 - 1");
}

Writer::Turn::Turn(Writer& writer) : writer_(writer), lock_(writer.turn_, std::defer_lock) {
  constexpr std::chrono::milliseconds kBetweenSignals{50};
  if (writer.writer_.depth != fork_depth()) return;  // the parent may hold the lock; the library refuses the call
  if (writer.has_turn_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    refuse(
        "this thread is publishing a step of the run, and a signal handler has interrupted it; expected the handler "
        "only to "
        "note the signal, and the loop to publish");
  }
  for (bool taken = lock_.try_lock(); !taken;) {
    {
      const Released released;
      taken = lock_.try_lock_for(kBetweenSignals);
    }
    if (!taken) called(PyErr_CheckSignals());
  }
  writer.has_turn_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

bool Writer::begin_block(std::uint64_t iteration, bool wait) {
  const Turn turn(*this);
  const bool claimed = claim(iteration, wait);
  in_block_ = iteration;
  return claimed;
}

void Writer::end_block(std::uint64_t iteration, PyObject* scalars) {
  struct Ended {
    std::uint64_t& in_block;
    ~Ended() { in_block = 0; }
  };
  const Ended ended{in_block_};
  const Turn turn(*this);
  if (scalars != nullptr) publish(iteration, scalars);
}

void Writer::check_turn_of(std::uint64_t iteration) const {
  if (detached_) refuse("iteration " + std::to_string(iteration) + ": this run has ended; publish another one");
  if (iteration <= last_ && last_ > 0 && !published_) {
    refuse("iteration " + std::to_string(iteration) + ": the run continues from iteration " + std::to_string(last_) +
           ", which the pool keeps: expected " + std::to_string(last_ + 1) +
           " or more (run.kept, run.next_iteration), or pool_use=\"overwrite\" for a run from its beginning");
  }
  if (iteration <= last_) {
    refuse("iteration " + std::to_string(iteration) + ": expected more than " + std::to_string(last_) +
           ", the iteration of the step before");
  }
  if (in_block_ != 0) {
    refuse("iteration " + std::to_string(iteration) + ": the block of iteration " + std::to_string(in_block_) +
           " has not ended, and uses the buffer; expected one step after the other");
  }
}

bool Writer::claim(std::uint64_t iteration, bool wait) {
  check_turn_of(iteration);
  for (Object& array : written_) array = {};
  // A free buffer is taken with the interpreter's lock and without a SignalWatch, whose two system calls take longer
  // than the rest of the claim. The interpreter itself sees a signal as soon as this call returns to it, because
  // nothing here waits. A failure is no reason to raise: the claim below finds it again, and has its line.
  ringside_error unused;
  const ringside_status at_once =
      with(writer_, ringside_writer_error, unused, Call::kShort, ringside_writer_claim_at_once);
  drops_ = at_once != RINGSIDE_OK && !claim_with_wait(wait);
  return !drops_;
}

bool Writer::claim_with_wait(bool wait) {
  SignalWatch watch(stop_);
  for (;;) {
    ringside_error error{};
    const ringside_status status = with(writer_, ringside_writer_error, error, Call::kLong,
                                        wait ? ringside_writer_claim : ringside_writer_try_claim);
    if (status == RINGSIDE_OK) break;
    if (status == RINGSIDE_FULL) {
      skip();
      return false;
    }
    if (status != RINGSIDE_INTERRUPTED || !watch.came()) raise(error);
  }
  // Without an analyzer, the library gives the step a buffer that is dropped, and counts it as skipped. This module
  // does not use that buffer.
  const std::uint64_t skipped = counts().skipped;
  return std::exchange(skipped_, skipped) == skipped;
}

Object Writer::array(PyObject* self, std::uint32_t index) {
  Object& made = written_[index];
  if (made) return made;
  const Variable& variable = variables_[index];
  if (drops_) {
    const Object zeros = attribute(imported("numpy").get(), "zeros");
    return made = call(zeros.get(), tuple_of(variable.shape), dtype_of(variable.dtype));
  }
  void* data = nullptr;
  short_call([&](auto* writer) {
    data = ringside_writer_buffer(writer, index);
    return ringside_writer_kept(writer, nullptr);  // refuses a child of fork(), whose buffers are not its own
  });
  if (data == nullptr) refuse("no step is claimed; its arrays can be written until the step is published");
  return made = array_at(variable, data, self, true);
}

Object Writer::previous(PyObject* self, std::uint32_t index) {
  if (!published_) {  // the first publish frees the memory of a kept step, so return a copy
    if (!kept()) return none();
    Object copied = kept_variable(index);
    make_read_only(copied.get());
    return copied;
  }
  const void* data = nullptr;
  short_call([&](auto* writer) {
    data = ringside_writer_previous(writer, index);
    return ringside_writer_kept(writer, nullptr);  // refuses a child of fork()
  });
  if (data == nullptr) refuse("no variable has that number");
  return array_at(variables_[index], data, self, false);
}

void Writer::skip() {
  short_call(ringside_writer_skip);
  ++skipped_;
}

std::vector<ringside_value> Writer::values(std::uint64_t iteration, PyObject* scalars) const {
  const auto refused = [&](const std::string& line) { refuse("iteration " + std::to_string(iteration) + ": " + line); };
  const bool is_dict = PyDict_Check(scalars);
  if (!is_dict && PyObject_HasAttrString(scalars, "keys") == 0) {
    refused("found " + shown(scalars) + " as scalars; expected a dict of values by name");
  }
  std::vector<ringside_value> made(scalar_names_.size());
  std::string missing;
  for (std::size_t s = 0; s < made.size(); ++s) {
    PyObject* const name = scalar_names_[s].get();
    Object given;
    if (is_dict) {
      given = borrowed(PyDict_GetItemWithError(scalars, name));
      if (!given && PyErr_Occurred()) throw Raised{};
    } else if (called(PySequence_Contains(scalars, name)) != 0) {
      given = called(PyObject_GetItem(scalars, name));
    }
    if (!given) {
      if (missing.empty()) missing = "no value for scalar " + str(name);
      continue;
    }
    const bool whole = scalar_types_[s] == RINGSIDE_VALUE_I64;
    if (!(whole ? is_whole(given.get(), made[s].i64) : is_real(given.get(), made[s].f64))) {
      refused("scalar " + str(name) + ": found " + shown(given.get()) + ", expected a " +
              (whole ? "whole number of 64 bits" : "number"));
    }
  }
  if (missing.empty() && PyObject_Size(scalars) == static_cast<Py_ssize_t>(made.size())) return made;
  // If a name is misspelt, the misspelt name is reported, not the name that is missing because of the mistake.
  const Object names = called(PySequence_List(scalars));
  for (Py_ssize_t n = 0; n < PyList_Size(names.get()); ++n) {
    PyObject* const name = PyList_GetItem(names.get(), n);
    const auto is_name = [&](const Object& known) { return called(PyObject_RichCompareBool(known.get(), name, Py_EQ)) != 0; };
    if (std::any_of(scalar_names_.begin(), scalar_names_.end(), is_name)) continue;
    refuse_name("no_scalar", tuple_of(iteration, borrowed(name), listed(scalar_names_), numbers_));
  }
  if (!missing.empty()) refused(missing);
  return made;
}

void Writer::publish(std::uint64_t iteration, PyObject* scalars) {
  const std::vector<ringside_value> given = values(iteration, scalars);
  short_call([&](auto* writer) { return ringside_writer_publish(writer, iteration, given.data(), given.size()); });
  has_published(iteration);
}

void Writer::has_published(std::uint64_t iteration) {
  last_ = iteration;
  published_ = true;
  for (Object& array : written_) {
    if (array) make_read_only(array.get());
    array = {};
  }
}

void Writer::detach(std::uint32_t outcome) {
  if (detached_) return;
  detached_ = true;
  SignalWatch watch(stop_);
  made(Call::kLong, [&](auto* writer) { return ringside_writer_detach(writer, outcome); });
}

ringside_counts Writer::counts() {
  ringside_counts counts{};
  counts.size = sizeof(counts);
  short_call([&](auto* writer) { return ringside_writer_counts(writer, &counts); });
  return counts;
}

std::pair<double, std::uint64_t> Writer::reply() {
  double value = 0;
  std::uint64_t number = 0;
  short_call([&](auto* writer) {
    const ringside_status status = ringside_writer_reply(writer, &value, &number);
    return status == RINGSIDE_ABSENT ? RINGSIDE_OK : status;
  });
  return {value, number};
}

}  // namespace ringside_python
