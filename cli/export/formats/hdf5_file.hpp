// SPDX-License-Identifier: BSD-3-Clause
// HDF5: one dataset for each variable, with a leading axis `iteration` if there are several steps (docs/use/export.md).
#pragma once

#include <memory>

#include "cli/export/formats/export_format.hpp"

namespace ringside {

std::unique_ptr<ExportSink> make_hdf5(const ExportTarget& target);

}  // namespace ringside
