// SPDX-License-Identifier: BSD-3-Clause
// Variables as text: csv, and Matrix Market's arrays. Both hold one variable of real numbers or integers, as a table.
#pragma once

#include <memory>

#include "cli/export/formats/export_format.hpp"

namespace ringside {

/// Throws Error (exit code 2) for complex numbers and more than two dimensions.
void check_table(const ExportTarget& target);

std::unique_ptr<ExportSink> make_csv(const ExportTarget& target);
std::unique_ptr<ExportSink> make_mtx(const ExportTarget& target);

}  // namespace ringside
