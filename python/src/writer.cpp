// SPDX-License-Identifier: BSD-3-Clause
#include "writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "signal_watch.hpp"

namespace ringside_python {
namespace {

const char* text(const std::optional<std::string>& given) {
  return given ? given->c_str() : nullptr;
}

/// "a, b" of names, or of a mapping's.
std::string joined(const py::object& names) {
  return py::str(", ").attr("join")(names).cast<std::string>();
}

/// A value in a line, if it is short there.
std::string shown(const py::handle& given) {
  const std::string text = py::repr(given).cast<std::string>();
  if (text.size() <= 60 && text.find('\n') == std::string::npos) return text;
  return "a " + py::type::of(given).attr("__name__").cast<std::string>();
}

}  // namespace

Writer::Writer(const std::vector<VariableTuple>& variables, const std::vector<ScalarTuple>& scalars,
               const Options& options) {
  std::vector<ringside_variable> given_variables;
  variables_.reserve(variables.size());
  for (const auto& [name, dtype, role, shape, unit] : variables) {
    numbers_[py::str(name)] = variables_.size();
    const Variable& own = variables_.emplace_back(Variable{name, dtype, role, shape, unit});
    if (shape.size() > RINGSIDE_MOST_DIMS) {
      refuse("variable '" + name + "': " + std::to_string(shape.size()) + " dimensions; expected 0 to 8");
    }
    ringside_variable& given = given_variables.emplace_back();
    given = {};
    given.size = sizeof(given);
    given.dtype = dtype;
    given.role = role;
    given.dims = static_cast<std::uint32_t>(shape.size());
    given.name = own.name.c_str();
    given.unit = own.unit.c_str();
    for (std::size_t d = 0; d < shape.size(); ++d) given.shape[d] = static_cast<std::uint64_t>(shape[d]);
  }
  std::vector<ringside_scalar> given_scalars;
  for (const auto& [name, type, unit] : scalars) {
    given_scalars.push_back({sizeof(ringside_scalar), type, name.c_str(), unit.c_str()});
    scalar_types_.push_back(type);
    scalar_names_.emplace_back(name);
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
}

std::uint32_t Writer::index(const py::handle& name) const {
  PyObject* number = PyDict_GetItemWithError(numbers_.ptr(), name.ptr());
  if (number != nullptr) return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(number));
  PyErr_Clear();  // what is not hashable is no name either
  refuse(std::string(py::repr(name)) + " is no variable of this run; expected one of " + joined(numbers_));
}

py::object Writer::kept_variable(std::uint32_t index) {
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
  if (status != RINGSIDE_OK) refuse(variable.name + ": the kept step can be read until the first publish");
  return copied;
}

py::object Writer::kept_scalar(std::uint32_t index) {
  ringside_value value{};
  const ringside_status status =
      short_call([&](auto* writer) { return ringside_writer_kept_scalar(writer, index, &value); });
  if (status != RINGSIDE_OK) return py::none();
  if (scalar_types_[index] == RINGSIDE_VALUE_I64) return py::int_(value.i64);
  return py::float_(value.f64);
}

std::uint64_t iteration_of(const py::handle& given) {
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  if (number) {
    const unsigned long long iteration = PyLong_AsUnsignedLongLong(number.ptr());
    if (!PyErr_Occurred()) return iteration;
  }
  PyErr_Clear();
  refuse("an iteration: found " + shown(given) + ", expected a whole number, 1 to 2^64 - 1");
}

Writer::Turn::Turn(Writer& writer) : writer_(writer), lock_(writer.turn_, std::defer_lock) {
  constexpr std::chrono::milliseconds kBetweenSignals{50};
  if (writer.writer_.depth != fork_depth()) return;  // a thread of the parent may have it; the library refuses the call
  if (writer.has_turn_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    refuse("this thread is publishing a step of the run, and a handler of a signal has interrupted it; expected the handler to note "
           "that it was called, and the loop to publish");
  }
  for (bool taken = lock_.try_lock(); !taken;) {
    {
      const Released released;
      taken = lock_.try_lock_for(kBetweenSignals);
    }
    if (!taken && PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  writer.has_turn_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

bool Writer::begin_block(std::uint64_t iteration, bool wait) {
  const Turn turn(*this);
  const bool claimed = claim(iteration, wait);
  in_block_ = iteration;
  return claimed;
}

void Writer::end_block(std::uint64_t iteration, const py::object& scalars) {
  struct Ended {
    std::uint64_t& in_block;
    ~Ended() { in_block = 0; }
  };
  const Ended ended{in_block_};
  const Turn turn(*this);
  if (scalars) publish(iteration, scalars);
}

bool Writer::claim(std::uint64_t iteration, bool wait) {
  if (detached_) refuse("iteration " + std::to_string(iteration) + ": this run has ended; publish another one");
  if (iteration <= last_ && last_ > 0 && !published_) {
    refuse("iteration " + std::to_string(iteration) + ": the run continues from iteration " + std::to_string(last_) +
           ", which the pool keeps: expected " + std::to_string(last_ + 1) +
           " or more (run.kept, run.next_iteration), or pool_use=\"overwrite\" for a run from its beginning");
  }
  if (iteration <= last_) {
    refuse("iteration " + std::to_string(iteration) + ": expected more than " + std::to_string(last_) +
           ", the one before");
  }
  if (in_block_ != 0) {
    refuse("iteration " + std::to_string(iteration) + ": iteration " + std::to_string(in_block_) +
           " is in its block, and has the buffer; expected one step after the other");
  }
  for (py::object& array : written_) array = py::object();
  SignalWatch watch(stop_);
  for (;;) {
    ringside_error error{};
    const ringside_status status = with(writer_, ringside_writer_error, error, Call::kLong,
                                        wait ? ringside_writer_claim : ringside_writer_try_claim);
    if (status == RINGSIDE_OK) break;
    if (status == RINGSIDE_FULL) {
      skip();
      drops_ = true;
      return false;
    }
    if (status != RINGSIDE_INTERRUPTED || !watch.came()) raise(error);
  }
  // A step for which no analyzer is there goes to memory that is dropped; here it has none.
  const std::uint64_t skipped = counts().skipped;
  drops_ = std::exchange(skipped_, skipped) != skipped;
  return !drops_;
}

py::object Writer::array(const py::object& self, std::uint32_t index) {
  py::object& made = written_[index];
  if (made) return made;
  const Variable& variable = variables_[index];
  if (drops_) {
    made = py::module_::import("numpy").attr("zeros")(variable.shape, dtype_of(variable.dtype));
    return made;
  }
  void* data = nullptr;
  short_call([&](auto* writer) {
    data = ringside_writer_buffer(writer, index);
    return ringside_writer_kept(writer, nullptr);  // refuses a child of fork(), whose buffers are not its own
  });
  if (data == nullptr) refuse("no step is claimed; its arrays can be written until the step is published");
  made = array_at(variable, data, self, true);
  return made;
}

py::object Writer::previous(const py::object& self, std::uint32_t index) {
  if (!published_) {  // the memory of a kept step goes at the first publish: a copy
    if (!kept()) return py::none();
    py::object copied = kept_variable(index);
    make_read_only(copied);
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

std::vector<ringside_value> Writer::values(std::uint64_t iteration, const py::object& scalars) const {
  const auto refused = [&](const std::string& line) { refuse("iteration " + std::to_string(iteration) + ": " + line); };
  if (!PyDict_Check(scalars.ptr()) && !py::hasattr(scalars, "keys")) {
    refused("found " + shown(scalars) + " as scalars; expected values by name");
  }
  std::vector<ringside_value> made(scalar_names_.size());
  for (std::size_t s = 0; s < made.size(); ++s) {
    if (!scalars.contains(scalar_names_[s])) {
      refused("no value for scalar " + scalar_names_[s].cast<std::string>());
    }
    const py::object given = scalars[scalar_names_[s]];
    const bool is_whole = scalar_types_[s] == RINGSIDE_VALUE_I64;
    try {
      if (is_whole) {
        made[s].i64 = given.cast<std::int64_t>();
      } else {
        made[s].f64 = given.cast<double>();
      }
    } catch (const py::cast_error&) {
      refused("scalar " + scalar_names_[s].cast<std::string>() + ": found " + shown(given) + ", expected a " +
              (is_whole ? "whole number of 64 bits" : "number"));
    }
  }
  if (py::len(scalars) != scalar_names_.size()) {
    for (const py::handle name : scalars) {
      const auto is_name = [&](const py::str& known) { return known.equal(name); };
      if (std::any_of(scalar_names_.begin(), scalar_names_.end(), is_name)) continue;
      const std::string expected = joined(py::cast(scalar_names_));
      refused(std::string(py::repr(name)) + " is no scalar of this run; expected " +
              (expected.empty() ? "none" : expected));
    }
  }
  return made;
}

void Writer::publish(std::uint64_t iteration, const py::object& scalars) {
  const std::vector<ringside_value> given = values(iteration, scalars);
  short_call([&](auto* writer) { return ringside_writer_publish(writer, iteration, given.data(), given.size()); });
  last_ = iteration;
  published_ = true;
  for (py::object& array : written_) {
    if (array) make_read_only(array);
    array = py::object();
  }
}

bool Writer::publish_arrays(const py::object& number, const std::vector<py::object>& arrays, const py::object& scalars,
                            bool wait) {
  return publish_packed(number, arrays, scalars, wait);
}

bool Writer::publish_packed(const py::object& number, const std::vector<py::object>& variables, const py::object& scalars,
                            bool wait) {
  const std::uint64_t iteration = iteration_of(number);
  if (variables.size() != variables_.size()) refuse("expected an array for each variable");
  std::vector<std::vector<Buffer>> from(variables.size());
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const Variable& variable = variables_[v];
    if (!PyList_Check(variables[v].ptr())) {
      from[v].push_back(checked_buffer(variable, variables[v]));
      continue;
    }
    std::size_t bytes = 0;
    for (const py::handle piece : py::reinterpret_borrow<py::list>(variables[v])) {
      bytes += from[v].emplace_back(piece, PyBUF_SIMPLE).bytes();
    }
    if (bytes != variable.bytes()) {
      refuse("iteration " + std::to_string(iteration) + ": " + variable.name + ": found " + std::to_string(bytes) + " bytes in " +
             std::to_string(from[v].size()) + " pieces, expected " + std::to_string(variable.bytes()));
    }
  }
  return put(iteration, from, scalars, wait);
}

bool Writer::put(std::uint64_t iteration, const std::vector<std::vector<Buffer>>& from, const py::object& scalars, bool wait) {
  const std::vector<ringside_value> given = values(iteration, scalars);
  const Turn turn(*this);
  if (!claim(iteration, wait)) return false;
  made(Call::kLong, [&](auto* writer) {
    for (std::uint32_t v = 0; v < from.size(); ++v) {
      auto* to = static_cast<std::byte*>(ringside_writer_buffer(writer, v));
      if (to == nullptr) break;  // another thread has ended the run: the publish says so
      for (const Buffer& piece : from[v]) {
        if (piece.bytes() != 0) std::memcpy(to, piece.data(), piece.bytes());
        to += piece.bytes();
      }
    }
    return ringside_writer_publish(writer, iteration, given.data(), given.size());
  });
  last_ = iteration;
  published_ = true;
  return true;
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

void define_writer(py::module_& module) {
  py::class_<Writer> type(module, "Writer", "The handle of a run that is published: ringside_writer.");
  type.def(py::init([](const std::vector<VariableTuple>& variables, const std::vector<ScalarTuple>& scalars,
                       std::optional<std::string> solver, std::optional<std::string> problem,
                       std::optional<std::string> parameters, std::string problem_bytes, std::uint64_t work,
                       std::optional<std::string> socket, std::optional<std::string> pool,
                       std::optional<std::string> run_options, std::uint32_t buffers, double peer_timeout_s,
                       std::uint32_t pool_use, std::uint32_t on_analyzer_loss, std::uint32_t coordination) {
             return std::make_unique<Writer>(variables, scalars,
                                             Options{std::move(solver), std::move(problem), std::move(parameters),
                                                     std::move(socket), std::move(pool), std::move(run_options),
                                                     std::move(problem_bytes), work, buffers,
                                                     peer_timeout_s, pool_use, on_analyzer_loss, coordination});
           }),
           py::kw_only(), py::arg("variables"), py::arg("scalars"), py::arg("solver"), py::arg("problem"),
           py::arg("parameters"), py::arg("problem_bytes"), py::arg("work"), py::arg("socket"), py::arg("pool"),
           py::arg("run_options"), py::arg("buffers"),
           py::arg("peer_timeout_s"), py::arg("pool_use"), py::arg("on_analyzer_loss"), py::arg("coordination"),
           "Attaches to the analyzer and waits until it accepts.")
      .def("kept", &Writer::kept, "The iteration that the run continues from; None for a new run.")
      .def("kept_variable", &Writer::kept_variable, py::arg("index"), "A copy of the kept step's variable.")
      .def("kept_scalar", &Writer::kept_scalar, py::arg("index"), "The kept step's scalar, or None.")
      .def_property_readonly("last", &Writer::last, "The iteration of the last step: kept or published; or 0.")
      .def_property_readonly("detached", &Writer::detached, "Whether the run has ended.")
      .def("index", &Writer::index, py::arg("name"), "The number of a variable.")
      .def("account", &Writer::account, "The account of a run whose analyzer was started for it, once it has ended: JSON.")
      .def("skip", &Writer::skip, "Counts a step as skipped.")
      .def("publish_arrays", &Writer::publish_arrays, py::arg("iteration"), py::arg("arrays"), py::arg("scalars"),
           py::arg("wait"),
           "Claims a step, copies an array for each variable into it, and publishes it. False: it was skipped.")
      .def("publish_packed", &Writer::publish_packed, py::arg("iteration"), py::arg("variables"), py::arg("scalars"),
           py::arg("wait"),
           "The same. In place of an array, a list of C-contiguous buffers: their bytes follow one another and fill the variable.")
      .def("detach", &Writer::detach, py::arg("outcome"), "Ends the run: returns when every step is committed.")
      .def(
          "reply",
          [](Writer& writer) -> py::object {
            const auto [value, number] = writer.reply();
            return number == 0 ? py::object(py::none()) : py::make_tuple(value, number);
          },
          "(value, number) of the last reply of a trigger; None if there was none.")
      .def(
          "counts",
          [](Writer& writer) {
            const ringside_counts counts = writer.counts();
            return py::make_tuple(counts.published, counts.skipped, static_cast<double>(counts.idle_ns) * 1e-9);
          },
          "(published, skipped, idle_s).");
  define_claimed_step(module, type);
}

}  // namespace ringside_python
