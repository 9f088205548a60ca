// SPDX-License-Identifier: BSD-3-Clause
// What a variable of a step is filled from in one call: an array, or many buffers. It is checked and kept before the step is
// claimed, and copied once, straight into the claimed buffer.
#pragma once

#include <vector>

#include "arrays.hpp"

namespace ringside_python {

struct Source {
  std::vector<Buffer> pieces;  // they follow one another in the variable
  Object array;                // in place of them: one that is not in C order, which NumPy copies

  /// Copies the pieces. room: the variable's bytes. Needs no lock of the interpreter's.
  void copy_to(void* memory, std::size_t room) const;
};

/// given: an array of the variable's dtype and shape, or what has a buffer of such an array; or a list of C-contiguous buffers that
/// fill the variable. Raises UsageError for anything else.
Source source_of(const Variable& variable, PyObject* given);

}  // namespace ringside_python
