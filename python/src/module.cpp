// SPDX-License-Identifier: BSD-3-Clause
// The extension module ringside._core: its classes and what belongs to none.
#include <pthread.h>

#include "arrays.hpp"

namespace ringside_python {
namespace {
int forks = 0;
}

int fork_depth() noexcept {
  return forks;
}

namespace {

[[noreturn]] void raise(ringside_status status, std::uint32_t reason, std::string_view line) {
  const py::object error = py::module_::import("ringside.errors").attr("of_status")(status, reason, line);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace

void raise(const ringside_error& error) {
  raise(error.status, error.reason, error.line);
}

void refuse(const std::string& line) {
  raise(RINGSIDE_USAGE, RINGSIDE_REASON_ARGUMENT, line);
}

}  // namespace ringside_python

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  pthread_atfork(nullptr, nullptr, [] { ++ringside_python::forks; });
  module.doc() = "The C interface of libringside (ringside.h). The package `ringside` is what to use.";
  module.def("version", &ringside_version, "The release of libringside.");
  module.def("catch_bus_errors", &ringside_catch_bus_errors,
             "A load through a view of a truncated pool ends the process with one line from now on.");
  ringside_python::define_arrays(module);
  ringside_python::define_writer(module);
  ringside_python::define_reader(module);
}
