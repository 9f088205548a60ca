// SPDX-License-Identifier: BSD-3-Clause
// The extension module ringside._core: its classes, and the functions that belong to no class.
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

[[noreturn]] void raise_made_by(const char* function, const Object& arguments) {
  const Object maker = attribute(imported("ringside.errors").get(), function);
  const Object error = called(PyObject_CallObject(maker.get(), arguments.get()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
  throw Raised{};
}

PyObject* version(PyObject*, PyObject*) {
  return guarded<PyObject*>(nullptr, [] { return python_of(ringside_version()).release(); });
}

PyObject* catch_bus_errors(PyObject*, PyObject*) {
  ringside_catch_bus_errors();
  return none().release();
}

PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "version()\n--\n\nThe release of libringside."},
    {"catch_bus_errors", catch_bus_errors, METH_NOARGS,
     "catch_bus_errors()\n--\n\nFrom now on, a load from a view of a truncated pool ends the process with a message."},
    {}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_core",
                          "The C interface of libringside (ringside.h). Programs use the package `ringside`.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

void raise(const ringside_error& error) {
  raise_made_by("of_status", tuple_of(error.status, error.reason, error.line));
}

void refuse(const std::string& line) {
  raise_made_by("of_status", tuple_of(static_cast<int>(RINGSIDE_USAGE), static_cast<int>(RINGSIDE_REASON_ARGUMENT), line));
}

void refuse_name(const char* function, const Object& arguments) {
  raise_made_by(function, arguments);
}

}  // namespace ringside_python

PyMODINIT_FUNC PyInit__core() {
  using namespace ringside_python;
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return guarded<PyObject*>(nullptr, [] {
    Object module = called(PyModule_Create(&definition));
    define_arrays();
    define_writer(module.get());
    define_reader(module.get());
    return module.release();
  });
}
