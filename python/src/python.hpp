// SPDX-License-Identifier: BSD-3-Clause
// The interpreter's limited C API in C++: owned references, results that throw, and the guard around each function that
// Python calls. With the limited API, one compiled module serves every CPython from 3.10 on (python/CMakeLists.txt sets
// Py_LIMITED_API).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Needs Python.h.
#include <cxxabi.h>
#include <structmember.h>
#include <unistd.h>

#include <array>
#include <concepts>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030b0000
// The buffer protocol is in the limited API from 3.11 on. 3.10 has the same functions and structure, which cannot
// change any more.
extern "C" {
typedef struct {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject*, Py_buffer*, int);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer*);
PyAPI_FUNC(int) PyBuffer_FillInfo(Py_buffer*, PyObject*, void*, Py_ssize_t, int, int);
PyAPI_FUNC(int) PyBuffer_IsContiguous(const Py_buffer*, char);
}
#define PyBUF_SIMPLE 0
#define PyBUF_WRITABLE 0x0001
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_CONTIG (PyBUF_ND | PyBUF_WRITABLE)
#define Py_bf_getbuffer 1
#endif

namespace ringside_python {

/// Thrown while a Python exception is set.
struct Raised {};

/// An owned reference, or null.
class Object {
 public:
  Object() = default;
  explicit Object(PyObject* owned) : object_(owned) {}
  Object(const Object& other) : object_(other.object_) { Py_XINCREF(object_); }
  Object(Object&& other) noexcept : object_(other.release()) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

inline Object borrowed(PyObject* object) {
  Py_XINCREF(object);
  return Object(object);
}

/// The result of a function of the interpreter. Throws if the function failed.
inline Object called(PyObject* result) {
  if (result == nullptr) throw Raised{};
  return Object(result);
}
inline int called(int result) {
  if (result < 0) throw Raised{};
  return result;
}

/// Raises a built-in exception of Python.
[[noreturn]] inline void raise(PyObject* type, const std::string& line) {
  PyErr_SetString(type, line.c_str());
  throw Raised{};
}

// --- To Python

inline Object none() {
  return borrowed(Py_None);
}
inline Object python_of(bool value) {
  return called(PyBool_FromLong(value));
}
inline Object python_of(std::integral auto value) {
  if constexpr (std::is_signed_v<decltype(value)>) return called(PyLong_FromLongLong(value));
  return called(PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(value)));
}
inline Object python_of(double value) {
  return called(PyFloat_FromDouble(value));
}
/// Some texts are from a file and may contain bytes that are not UTF-8; replacement characters stand for these.
inline Object python_of(std::string_view text) {
  return called(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}
inline Object python_of(const std::string& text) {
  return python_of(std::string_view(text));
}
inline Object python_of(const char* text) {
  return python_of(std::string_view(text));
}
/// A name that is looked up in dicts. Names in a program are interned, too: then two equal names are one object.
inline Object interned(const std::string& text) {
  PyObject* name = python_of(text).release();
  PyUnicode_InternInPlace(&name);
  return Object(name);
}
inline Object python_of(Object object) {
  return object;
}
Object python_of(PyObject*) = delete;  // a pointer would become a bool
template <class Value>
Object python_of(const std::optional<Value>& value) {
  return value ? python_of(*value) : none();
}
template <std::size_t bytes>
Object bytes_of(const unsigned char (&data)[bytes]) {
  return called(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(data), bytes));
}

template <class... Values>
Object tuple_of(Values&&... values) {
  Object made = called(PyTuple_New(sizeof...(values)));
  Py_ssize_t index = 0;
  (called(PyTuple_SetItem(made.get(), index++, python_of(std::forward<Values>(values)).release())), ...);
  return made;
}
inline Object tuple_of(const std::vector<Py_ssize_t>& shape) {
  Object made = called(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    called(PyTuple_SetItem(made.get(), static_cast<Py_ssize_t>(d), python_of(shape[d]).release()));
  }
  return made;
}

inline void append(const Object& list, const Object& entry) {
  called(PyList_Append(list.get(), entry.get()));
}
inline void set(const Object& dict, const char* key, const Object& value) {
  called(PyDict_SetItemString(dict.get(), key, value.get()));
}

// --- From Python

inline Object imported(const char* module) {
  return called(PyImport_ImportModule(module));
}
inline Object attribute(PyObject* object, const char* name) {
  return called(PyObject_GetAttrString(object, name));
}
template <class... Arguments>
Object call(PyObject* function, const Arguments&... arguments) {
  return called(PyObject_CallFunctionObjArgs(function, arguments.get()..., nullptr));
}

/// The UTF-8 bytes of a str, or the content of bytes.
inline std::string text_of(PyObject* given) {
  if (PyBytes_Check(given)) return {PyBytes_AsString(given), static_cast<std::size_t>(PyBytes_Size(given))};
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(given, &size);  // raises TypeError for other objects
  if (text == nullptr) throw Raised{};
  return {text, static_cast<std::size_t>(size)};
}
inline std::optional<std::string> optional_text_of(PyObject* given) {
  return given == Py_None ? std::nullopt : std::optional(text_of(given));
}
inline std::string str(PyObject* object) {
  return text_of(called(PyObject_Str(object)).get());
}
inline std::string repr(PyObject* object) {
  return text_of(called(PyObject_Repr(object)).get());
}

/// Converts a whole number of Python or NumPy. Raises TypeError or OverflowError for anything else.
template <std::unsigned_integral Number>
Number number_of(PyObject* given) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(called(PyNumber_Index(given)).get());
  if (PyErr_Occurred()) throw Raised{};
  if (number > std::numeric_limits<Number>::max()) raise(PyExc_OverflowError, std::to_string(number) + " is too large");
  return static_cast<Number>(number);
}
inline double real_of(PyObject* given) {
  const double number = PyFloat_AsDouble(given);
  if (number == -1 && PyErr_Occurred()) throw Raised{};
  return number;
}
inline bool truth_of(PyObject* given) {
  return called(PyObject_IsTrue(given)) != 0;
}
/// The entries of a sequence, as a copy that no other thread can change.
class Entries {
 public:
  explicit Entries(PyObject* sequence) : tuple_(called(PySequence_Tuple(sequence))) {}
  std::size_t size() const { return static_cast<std::size_t>(PyTuple_Size(tuple_.get())); }
  PyObject* operator[](std::size_t index) const {
    PyObject* const entry = PyTuple_GetItem(tuple_.get(), static_cast<Py_ssize_t>(index));
    if (entry == nullptr) throw Raised{};
    return entry;
  }

 private:
  Object tuple_;
};

// --- Functions and types for Python

/// Returns call(), for a function that Python calls. If call() throws, a Python exception is set and the result is
/// `failed`. If the interpreter ends this thread (Released), the thread sleeps.
template <class Result, class Call>
Result guarded(Result failed, const Call& call) {
  try {
    return call();
  } catch (const Raised&) {
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
  return failed;
}

/// A Python object with a C++ value, which is null until it is set.
template <class Value>
struct Instance {
  PyObject_HEAD;
  Value* value;
};

template <class Value>
Value& value_of(PyObject* self) {
  return *reinterpret_cast<Instance<Value>*>(self)->value;
}

/// A new object of this type, with the value.
template <class Value>
Object instance_of(PyTypeObject* type, std::unique_ptr<Value> value) {
  Object made = called(PyType_GenericAlloc(type, 0));
  reinterpret_cast<Instance<Value>*>(made.get())->value = value.release();
  return made;
}

/// Frees an object of one of our types, after its members have been destroyed.
inline void free_object(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

template <class Value>
void destroy_instance(PyObject* self) {
  delete reinterpret_cast<Instance<Value>*>(self)->value;
  free_object(self);
}

/// The arguments of a call. Each argument must be given, by its position or by its name.
template <std::size_t count>
std::array<PyObject*, count> arguments_of(const char* const (&names)[count], PyObject* const* given, Py_ssize_t placed,
                                          PyObject* keywords) {
  std::array<PyObject*, count> found{};
  if (static_cast<std::size_t>(placed) > count) {
    raise(PyExc_TypeError, "found " + std::to_string(placed) + " arguments, expected " + std::to_string(count));
  }
  for (Py_ssize_t a = 0; a < placed; ++a) found[static_cast<std::size_t>(a)] = given[a];
  for (Py_ssize_t k = 0; keywords != nullptr && k < PyTuple_Size(keywords); ++k) {
    PyObject* const keyword = PyTuple_GetItem(keywords, k);
    std::size_t a = 0;
    while (a < count && PyUnicode_CompareWithASCIIString(keyword, names[a]) != 0) ++a;
    if (a == count || found[a] != nullptr) raise(PyExc_TypeError, "argument " + str(keyword) + " is unknown, or given twice");
    found[a] = given[placed + k];
  }
  for (std::size_t a = 0; a < count; ++a) {
    if (found[a] == nullptr) raise(PyExc_TypeError, std::string("no argument ") + names[a]);
  }
  return found;
}

/// The result of body(value) as a Python object; None if body returns nothing. body: a function or a member.
template <auto body, class Value>
PyObject* result_of(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    if constexpr (std::is_void_v<std::invoke_result_t<decltype(body), Value&>>) {
      std::invoke(body, value_of<Value>(self));
      return none().release();
    } else {
      return python_of(std::invoke(body, value_of<Value>(self))).release();
    }
  });
}

/// These functions wrap body as a method without arguments (METH_NOARGS), as a method with arguments, and as the getter
/// of a property.
template <class Value, auto body>
PyObject* method(PyObject* self, PyObject*) {
  return result_of<body, Value>(self);
}
template <class Value, auto& names, Object (*body)(Value&, PyObject* self, const std::array<PyObject*, std::size(names)>&)>
PyObject* method(PyObject* self, PyObject* const* given, Py_ssize_t placed, PyObject* keywords) {
  return guarded<PyObject*>(nullptr, [&] {
    return body(value_of<Value>(self), self, arguments_of(names, given, placed, keywords)).release();
  });
}
template <class Value, auto body>
PyObject* getter(PyObject* self, void*) {
  return result_of<body, Value>(self);
}

/// The entry in a table of methods for a method with arguments.
inline PyMethodDef with_arguments(const char* name, PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*),
                                  const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS, doc};
}

/// Makes a type and adds it to the module. Types live as long as the process.
inline PyTypeObject* add_type(PyObject* module, const char* name, int bytes, PyType_Slot* slots) {
  PyType_Spec spec = {name, bytes, 0, Py_TPFLAGS_DEFAULT, slots};
  const Object type = called(PyType_FromSpec(&spec));
  const std::string_view full = name;
  called(PyModule_AddObjectRef(module, full.substr(full.rfind('.') + 1).data(), type.get()));
  return reinterpret_cast<PyTypeObject*>(borrowed(type.get()).release());
}
/// Py_tp_new of a type whose objects only other functions make.
inline PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "objects of this type are not made by calling it");
  return nullptr;
}

}  // namespace ringside_python
