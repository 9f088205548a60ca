// SPDX-License-Identifier: BSD-3-Clause
#include "writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "signal_watch.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ringside_python {
namespace {

const char* text(const std::optional<std::string>& given) {
  return given ? given->c_str() : nullptr;
}

/// "a, b" of an iterable's texts.
std::string joined(PyObject* names) {
  return str(called(PyUnicode_Join(python_of(", ").get(), names)).get());
}

/// A value in a line, if it is short there.
std::string shown(PyObject* given) {
  const std::string text = repr(given);
  if (text.size() <= 60 && text.find('\n') == std::string::npos) return text;
  return "a " + str(attribute(reinterpret_cast<PyObject*>(Py_TYPE(given)), "__name__").get());
}

/// A whole number of 64 bits; also of a type that has no other values than numbers, if it is whole. False: `given` is none.
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

/// memcpy to a buffer that the caches cannot hold until another core reads it: the stores leave the caches out, so that no line
/// of `to` is read before it is written. memcpy itself does so only of much memory at once, not of many pieces.
void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __SSE2__
  constexpr std::size_t kLine = 64;
  if (bytes >= 4 * kLine) {
    const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
    std::memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= kLine; to += kLine, from += kLine, bytes -= kLine) {
      const auto* line = reinterpret_cast<const __m128i*>(from);
      auto* out = reinterpret_cast<__m128i*>(to);
      const __m128i a = _mm_loadu_si128(line), b = _mm_loadu_si128(line + 1), c = _mm_loadu_si128(line + 2),
                    d = _mm_loadu_si128(line + 3);
      _mm_stream_si128(out, a);
      _mm_stream_si128(out + 1, b);
      _mm_stream_si128(out + 2, c);
      _mm_stream_si128(out + 3, d);
    }
  }
#endif
  if (bytes != 0) std::memcpy(to, from, bytes);
}

/// What follows one another in a variable's memory.
struct Source {
  std::vector<Buffer> pieces;
  Object array;  // in place of them: one that is not in C order

  void copy_to(void* memory, std::size_t room) const {
    constexpr std::size_t kStreamed = std::size_t{4} << 20;
    auto* to = static_cast<std::byte*>(memory);
    for (const Buffer& piece : pieces) {
      const auto* from = static_cast<const std::byte*>(piece.data());
      if (room >= kStreamed) {
        stream(to, from, piece.bytes());
      } else if (piece.bytes() != 0) {
        std::memcpy(to, from, piece.bytes());
      }
      to += piece.bytes();
    }
#ifdef __SSE2__
    _mm_sfence();  // before the store that publishes
#endif
  }
};

Source source_of(const Variable& variable, PyObject* given) {
  Source source;
  if (!PyList_Check(given)) {
    Object array = as_array(given);
    Buffer buffer = checked_buffer(variable, array.get());
    if (buffer.in_c_order()) {
      source.pieces.push_back(std::move(buffer));
    } else {
      source.array = std::move(array);
    }
    return source;
  }
  const Entries pieces(given);
  std::size_t bytes = 0;
  source.pieces.reserve(pieces.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) bytes += source.pieces.emplace_back(pieces[p], PyBUF_SIMPLE).bytes();
  if (bytes != variable.bytes()) {
    refuse(variable.name + ": found buffers of " + std::to_string(bytes) + " bytes in all; expected " +
           std::to_string(variable.bytes()));
  }
  return source;
}

}  // namespace

Writer::Writer(std::vector<Variable> variables, const std::vector<Scalar>& scalars, const Options& options)
    : variables_(std::move(variables)), numbers_(called(PyDict_New())) {
  std::vector<ringside_variable> given_variables;
  for (const Variable& own : variables_) {
    called(PyDict_SetItem(numbers_.get(), python_of(own.name).get(), python_of(given_variables.size()).get()));
    if (own.shape.size() > RINGSIDE_MOST_DIMS) {
      refuse("variable '" + own.name + "': " + std::to_string(own.shape.size()) + " dimensions; expected 0 to 8");
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
    scalar_names_.push_back(python_of(scalar.name));
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

std::uint32_t Writer::index(PyObject* name) const {
  PyObject* number = PyDict_GetItemWithError(numbers_.get(), name);
  if (number != nullptr) return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(number));
  PyErr_Clear();  // what is not hashable is no name either
  std::string line = repr(name) + " is no variable of this run; expected one of " + joined(numbers_.get());
  const auto is_name = [&](const Object& known) { return PyObject_RichCompareBool(known.get(), name, Py_EQ) == 1; };
  if (std::any_of(scalar_names_.begin(), scalar_names_.end(), is_name)) {
    line += ". It is a scalar: step.scalars[" + repr(name) + "], or in publish(k, arrays, scalars)";
  }
  PyErr_Clear();
  refuse(line);
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
  if (status != RINGSIDE_OK) refuse(variable.name + ": the kept step can be read until the first publish");
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
  for (Object& array : written_) array = {};
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
  if (!published_) {  // the memory of a kept step goes at the first publish: a copy
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
    refused("found " + shown(scalars) + " as scalars; expected values by name");
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
  // One that is misspelt is named before the one that therefore is missing.
  const Object names = called(PySequence_List(scalars));
  for (Py_ssize_t n = 0; n < PyList_Size(names.get()); ++n) {
    PyObject* const name = PyList_GetItem(names.get(), n);
    const auto is_name = [&](const Object& known) { return called(PyObject_RichCompareBool(known.get(), name, Py_EQ)) != 0; };
    if (std::any_of(scalar_names_.begin(), scalar_names_.end(), is_name)) continue;
    Object known = called(PyList_New(0));
    for (const Object& scalar : scalar_names_) append(known, scalar);
    const std::string expected = made.empty() ? "none" : joined(known.get());
    const int is_variable = PyDict_Contains(numbers_.get(), name);
    if (is_variable < 0) PyErr_Clear();
    refused(repr(name) + (is_variable > 0 ? " is a variable and" : " is") + " no scalar of this run; expected " + expected);
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

bool Writer::publish_packed(PyObject* self, PyObject* number, PyObject* variables, PyObject* scalars, bool wait) {
  const std::uint64_t iteration = iteration_of(number);
  const Entries sources(variables);
  if (sources.size() != variables_.size()) refuse("expected an array for each variable");
  std::vector<Source> from;
  std::vector<std::size_t> bytes;
  from.reserve(sources.size());
  for (std::size_t v = 0; v < sources.size(); ++v) {
    from.push_back(source_of(variables_[v], sources[v]));
    bytes.push_back(variables_[v].bytes());
  }
  const std::vector<ringside_value> given = values(iteration, scalars);
  const Turn turn(*this);
  if (!claim(iteration, wait)) return false;
  for (std::uint32_t v = 0; v < from.size(); ++v) {  // NumPy copies them, while it has the interpreter's lock
    if (from[v].array) copy_array(array(self, v).get(), from[v].array.get());
  }
  made(Call::kLong, [&](auto* writer) {
    for (std::uint32_t v = 0; v < from.size(); ++v) {
      void* const to = ringside_writer_buffer(writer, v);
      if (to == nullptr) break;  // another thread has ended the run: the publish says so
      from[v].copy_to(to, bytes[v]);
    }
    return ringside_writer_publish(writer, iteration, given.data(), given.size());
  });
  has_published(iteration);
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

namespace {

Variable variable_of(const Entries& given) {
  Variable made{text_of(given[0]), number_of<std::uint16_t>(given[1]), number_of<std::uint16_t>(given[2]), {}, text_of(given[4])};
  const Entries shape(given[3]);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    made.shape.push_back(static_cast<Py_ssize_t>(number_of<std::uint64_t>(shape[d])));
  }
  return made;
}

PyObject* make_writer(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* const kNames[] = {"variables", "scalars",        "solver",   "problem",          "parameters",
                                       "problem_bytes", "work",       "socket",   "pool",  "run_options", "buffers", "peer_timeout_s",
                                       "pool_use",  "on_analyzer_loss", "coordination", nullptr};
  PyObject *variables, *scalars, *solver, *problem, *parameters, *problem_bytes, *work, *socket, *pool, *run_options, *buffers, *peer_timeout_s, *pool_use,
      *on_analyzer_loss, *coordination;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "$OOOOOOOOOOOOOOO:Writer", const_cast<char**>(kNames), &variables, &scalars,
                                  &solver, &problem, &parameters, &problem_bytes, &work, &socket, &pool, &run_options, &buffers, &peer_timeout_s,
                                  &pool_use, &on_analyzer_loss, &coordination) == 0) {
    return nullptr;
  }
  return guarded<PyObject*>(nullptr, [&] {
    std::vector<Variable> own;
    const Entries described(variables), named(scalars);
    for (std::size_t v = 0; v < described.size(); ++v) own.push_back(variable_of(Entries(described[v])));
    std::vector<Scalar> numbers;
    for (std::size_t s = 0; s < named.size(); ++s) {
      const Entries given(named[s]);
      numbers.push_back({text_of(given[0]), number_of<std::uint32_t>(given[1]), text_of(given[2])});
    }
    Options options;
    options.solver = optional_text_of(solver);
    options.problem = optional_text_of(problem);
    options.parameters = optional_text_of(parameters);
    options.problem_bytes = text_of(problem_bytes);
    options.work = number_of<std::uint64_t>(work);
    options.socket = optional_text_of(socket);
    options.pool = optional_text_of(pool);
    options.run_options = optional_text_of(run_options);
    options.buffers = number_of<std::uint32_t>(buffers);
    options.peer_timeout_s = real_of(peer_timeout_s);
    options.pool_use = number_of<std::uint32_t>(pool_use);
    options.on_analyzer_loss = number_of<std::uint32_t>(on_analyzer_loss);
    options.coordination = number_of<std::uint32_t>(coordination);
    return instance_of(type, std::make_unique<Writer>(std::move(own), numbers, options)).release();
  });
}

constexpr const char* kIndex[] = {"index"};
constexpr const char* kName[] = {"name"};
constexpr const char* kOutcome[] = {"outcome"};
constexpr const char* kStep[] = {"iteration", "variables", "scalars", "wait"};
using One = std::array<PyObject*, 1>;

Object kept(Writer& writer) {
  return python_of(writer.kept());
}
Object kept_variable(Writer& writer, PyObject*, const One& given) {
  return writer.kept_variable(number_of<std::uint32_t>(given[0]));
}
Object kept_scalar(Writer& writer, PyObject*, const One& given) {
  return writer.kept_scalar(number_of<std::uint32_t>(given[0]));
}
Object last(Writer& writer) {
  return python_of(writer.last());
}
Object detached(Writer& writer) {
  return python_of(writer.detached());
}
Object index(Writer& writer, PyObject*, const One& given) {
  return python_of(writer.index(given[0]));
}
Object account(Writer& writer) {
  return python_of(writer.account());
}
Object skip(Writer& writer) {
  writer.skip();
  return none();
}
Object publish_packed(Writer& writer, PyObject* self, const std::array<PyObject*, 4>& given) {
  return python_of(writer.publish_packed(self, given[0], given[1], given[2], truth_of(given[3])));
}
Object detach(Writer& writer, PyObject*, const One& given) {
  writer.detach(number_of<std::uint32_t>(given[0]));
  return none();
}
Object reply(Writer& writer) {
  const auto [value, number] = writer.reply();
  return number == 0 ? none() : tuple_of(value, number);
}
Object counts(Writer& writer) {
  const ringside_counts counts = writer.counts();
  return tuple_of(counts.published, counts.skipped, static_cast<double>(counts.idle_ns) * 1e-9);
}

PyMethodDef writer_methods[] = {
    {"kept", method<Writer, kept>, METH_NOARGS, "kept($self)\n--\n\nThe iteration that the run continues from; None for a new run."},
    with_arguments("kept_variable", method<Writer, kIndex, kept_variable>,
                   "kept_variable($self, index)\n--\n\nA copy of the kept step's variable."),
    with_arguments("kept_scalar", method<Writer, kIndex, kept_scalar>,
                   "kept_scalar($self, index)\n--\n\nThe kept step's scalar, or None."),
    with_arguments("index", method<Writer, kName, index>, "index($self, name)\n--\n\nThe number of a variable."),
    {"account", method<Writer, account>, METH_NOARGS,
     "account($self)\n--\n\nThe account of a run whose analyzer was started for it, once it has ended: JSON."},
    {"skip", method<Writer, skip>, METH_NOARGS, "skip($self)\n--\n\nCounts a step as skipped."},
    with_arguments("publish_packed", method<Writer, kStep, publish_packed>,
                   "publish_packed($self, iteration, variables, scalars, wait)\n--\n\n"
                   "Claims a step, fills each variable, and publishes it: from an array of any layout, or from a list of\n"
                   "C-contiguous buffers whose bytes follow one another. False: it was skipped."),
    with_arguments("detach", method<Writer, kOutcome, detach>,
                   "detach($self, outcome)\n--\n\nEnds the run: returns when every step is committed."),
    {"reply", method<Writer, reply>, METH_NOARGS,
     "reply($self)\n--\n\n(value, number) of the last reply of a trigger; None if there was none."},
    {"counts", method<Writer, counts>, METH_NOARGS, "counts($self)\n--\n\n(published, skipped, idle_s)."},
    {}};

PyGetSetDef writer_properties[] = {
    {"last", getter<Writer, last>, nullptr, "The iteration of the last step: kept or published; or 0.", nullptr},
    {"detached", getter<Writer, detached>, nullptr, "Whether the run has ended.", nullptr},
    {}};

constexpr char kWriterDoc[] =
    "Writer(*, variables, scalars, solver, problem, parameters, problem_bytes, work, socket, pool, run_options, buffers, peer_timeout_s, "
    "pool_use, on_analyzer_loss, coordination)\n--\n\n"
    "The handle of a run that is published: ringside_writer. Attaches to the analyzer and waits until it accepts.";

}  // namespace

void define_writer(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kWriterDoc)},
                         {Py_tp_new, reinterpret_cast<void*>(make_writer)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(destroy_instance<Writer>)},
                         {Py_tp_methods, writer_methods},
                         {Py_tp_getset, writer_properties},
                         {}};
  define_claimed_step(module, add_type(module, "ringside._core.Writer", sizeof(Instance<Writer>), slots));
}

}  // namespace ringside_python
