// SPDX-License-Identifier: BSD-3-Clause
// dtypes and NumPy arrays of variables.
#include <functional>
#include <numeric>

#include "core.hpp"

namespace ringside_python {
namespace {

struct DType {
  std::string_view name;
  const char* numpy;
};

/// By number; 0 is none. Little-endian, as the pool stores them.
constexpr DType kDTypes[] = {{"", ""},       {"f32", "<f4"}, {"f64", "<f8"}, {"c64", "<c8"}, {"c128", "<c16"},
                             {"i8", "|i1"},  {"i16", "<i2"}, {"i32", "<i4"}, {"i64", "<i8"}, {"u8", "|u1"},
                             {"u16", "<u2"}, {"u32", "<u4"}, {"u64", "<u8"}};
static_assert(std::size(kDTypes) == RINGSIDE_U64 + 1);

const DType& known(std::uint16_t number) {
  if (number == 0 || number >= std::size(kDTypes)) refuse("dtype " + std::to_string(number) + " is unknown");
  return kDTypes[number];
}

std::vector<py::ssize_t> shape_of(const py::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}

std::string_view order_of(const py::array& array) {
  if (array.flags() & py::array::c_style) return "C order";
  return array.flags() & py::array::f_style ? "Fortran order" : "not contiguous";
}

}  // namespace

const py::dtype& dtype_of(std::uint16_t number) {
  static const auto* made = [] {  // never freed: at the end of the process there is no interpreter for that
    auto* all = new std::vector<py::dtype>;
    for (const DType& dtype : kDTypes) all->emplace_back(dtype.name.empty() ? "<f8" : dtype.numpy);
    return all;
  }();
  known(number);
  return (*made)[number];
}

std::string_view name_of(std::uint16_t number) {
  return known(number).name;
}

std::string text_of(const std::vector<py::ssize_t>& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::size_t Variable::bytes() const {
  const auto entry = static_cast<py::ssize_t>(dtype_of(dtype).itemsize());
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), entry, std::multiplies<>()));
}

py::array array_at(const Variable& variable, const void* data, const py::object& owner, bool writeable) {
  py::array made(dtype_of(variable.dtype), variable.shape, {}, data, owner);
  if (!writeable) make_read_only(made);
  return made;
}

void make_read_only(const py::handle& array) {
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
}

void check_array(const Variable& variable, const py::array& array) {
  const py::dtype found = array.dtype(), &expected = dtype_of(variable.dtype);
  if ((found.is(expected) || found.equal(expected)) && shape_of(array) == variable.shape &&
      (array.flags() & py::array::c_style)) {
    return;
  }
  refuse(variable.name + ": found an array of " + std::string(py::str(array.dtype())) + ", shape " +
         text_of(shape_of(array)) + ", " + std::string(order_of(array)) + "; expected " +
         std::string(name_of(variable.dtype)) + ", shape " + text_of(variable.shape) + ", C order");
}

}  // namespace ringside_python
