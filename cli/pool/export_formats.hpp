// SPDX-License-Identifier: BSD-3-Clause
// The files that `ringside export` writes: NumPy's npy and npz, csv, Matrix Market.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/output_file.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// A variable that is exported. `values`: its bytes, which the payload keeps alive.
struct ExportedVariable {
  const Variable& variable;
  std::span<const std::byte> values;
};

struct ExportFormat {
  std::string_view name;
  bool several;  // takes more than one variable
  /// Throws Error (exit code 2) for a variable that the format cannot hold; to be called before the file is made.
  void (*check)(const Variable& variable);
  void (*write)(OutputFile& file, std::span<const ExportedVariable> variables);
};

/// In the order of the help text; the first is the default.
std::span<const ExportFormat> export_formats();

/// NumPy's name of a dtype, with its byte order: "<f8".
std::string_view numpy_dtype(DType dtype) noexcept;

}  // namespace ringside
