// SPDX-License-Identifier: BSD-3-Clause
// NumPy's files: npy holds one array, npz is a zip archive of several.
#pragma once

#include <memory>
#include <string_view>

#include "cli/export/formats/export_format.hpp"

namespace ringside {

/// NumPy's name of a dtype, with its byte order: "<f8".
std::string_view numpy_dtype(DType dtype) noexcept;

std::unique_ptr<ExportSink> make_npy(const ExportTarget& target);
std::unique_ptr<ExportSink> make_npz(const ExportTarget& target);

}  // namespace ringside
