// SPDX-License-Identifier: BSD-3-Clause
// Publishing a step in one call (run.publish): checks every array before the claim, then copies all of them into the
// claimed buffer. The usual call, a dict with a numpy.ndarray for each variable, is checked here without an object of
// Python's for each check; a small step costs little else (docs/publish/python.md#costs).
#include <optional>
#include <vector>

#include "source.hpp"
#include "writer.hpp"

namespace ringside_python {

std::optional<bool> Writer::publish_arrays(PyObject* self, PyObject* number, PyObject* arrays, PyObject* scalars,
                                           bool wait) {
  if (!PyDict_CheckExact(arrays) || PyDict_Size(arrays) != static_cast<Py_ssize_t>(names_.size())) return {};
  std::vector<Object> given;
  given.reserve(names_.size());
  for (const Object& name : names_) {
    given.push_back(borrowed(PyDict_GetItemWithError(arrays, name.get())));
    if (!given.back() && PyErr_Occurred()) throw Raised{};
    if (!given.back() || !is_plain_array(given.back().get())) return {};
  }
  return publish_sources(self, number, given, scalars, wait);
}

bool Writer::publish_packed(PyObject* self, PyObject* number, PyObject* variables, PyObject* scalars, bool wait) {
  const Entries entries(variables);
  std::vector<Object> given;
  for (std::size_t v = 0; v < entries.size(); ++v) given.push_back(borrowed(entries[v]));
  if (given.size() != variables_.size()) refuse("expected an array for each variable");
  return publish_sources(self, number, given, scalars, wait);
}

bool Writer::publish_sources(PyObject* self, PyObject* number, const std::vector<Object>& variables, PyObject* scalars,
                             bool wait) {
  constexpr std::size_t kShortCopy = std::size_t{64} << 10;  // a copy of this many bytes takes a few microseconds
  const std::uint64_t iteration = iteration_of(number);
  std::vector<Source> from;
  from.reserve(variables.size());
  for (std::size_t v = 0; v < variables.size(); ++v) from.push_back(source_of(variables_[v], variables[v].get()));
  const std::vector<ringside_value> given = values(iteration, scalars);
  const Turn turn(*this);
  if (!claim(iteration, wait)) return false;
  for (std::uint32_t v = 0; v < from.size(); ++v) {  // NumPy copies these, with the interpreter's lock
    if (from[v].array) copy_array(array(self, v).get(), from[v].array.get());
  }
  made(step_bytes_ < kShortCopy ? Call::kShort : Call::kLong, [&](auto* writer) {
    for (std::uint32_t v = 0; v < from.size(); ++v) {
      void* const to = ringside_writer_buffer(writer, v);
      if (to == nullptr) break;  // another thread has ended the run; the publish reports that
      from[v].copy_to(to, bytes_[v]);
    }
    return ringside_writer_publish(writer, iteration, given.data(), given.size());
  });
  has_published(iteration);
  return true;
}

}  // namespace ringside_python
