// SPDX-License-Identifier: BSD-3-Clause
// Zarr stores in a folder, of format 2 and of format 3: one array for each variable, in uncompressed chunks, with what
// xarray needs to open them as a data set (docs/use/export.md).
#pragma once

#include <memory>

#include "cli/export/formats/export_format.hpp"

namespace ringside {

std::unique_ptr<ExportSink> make_zarr2(const ExportTarget& target);
std::unique_ptr<ExportSink> make_zarr3(const ExportTarget& target);

}  // namespace ringside
