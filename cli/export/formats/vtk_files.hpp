// SPDX-License-Identifier: BSD-3-Clause
// VTK's XML files, which ParaView opens: variables on a regular grid (.vti), on points of the user's (.vtu), and a
// series of either (.pvd, with a folder of its files beside it).
#pragma once

#include <memory>

#include "cli/export/formats/export_format.hpp"

namespace ringside {

/// Throws Error (exit code 2) for variables of different shapes; without points, of no dimension or more than three;
/// and for an output whose ending means another kind of file.
void check_vtk(const ExportTarget& target);

std::unique_ptr<ExportSink> make_vtk(const ExportTarget& target);

}  // namespace ringside
