// SPDX-License-Identifier: BSD-3-Clause
// Command lines of the four codes of Patil et al., MEMSYS 2019, 6.2, with sizes for strong and weak scaling. bench/apps
// builds them from sources that the user provides, and lists the published sizes.
#pragma once

#include <iosfwd>

#include "node/applications/app_table.hpp"

namespace ringside {

/// LULESH 2.0: each process has a cube of points, so the number of processes is a cube.
AppCommand lulesh_command(const AppJob& job);
bool lulesh_takes(int workers);

/// AMG: a Laplace problem with a 27-point stencil on a box of cubes.
AppCommand amg_command(const AppJob& job);

/// VPIC: a deck is compiled into a program; bench/apps/vpic.sh makes one for each number of particles.
AppCommand vpic_command(const AppJob& job);
bool vpic_takes(int workers);

/// The C version of SNAP. The processes divide y and z of a cube of cells.
AppCommand snap_command(const AppJob& job);
void write_snap_input(const AppJob& job, std::ostream& to);

}  // namespace ringside
