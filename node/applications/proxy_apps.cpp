// SPDX-License-Identifier: BSD-3-Clause
#include "node/applications/proxy_apps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace ringside {
namespace {

std::vector<std::string> mpi_launcher(int processes) {
  // Without these options, Open MPI refuses root and more processes than cores.
  return {"mpirun", "--oversubscribe", "--allow-run-as-root", "-n", std::to_string(processes)};
}

/// The number of points or cells in the part of one process.
std::uint64_t each_has(const AppJob& job, std::uint64_t bytes_of_one) {
  return job.bytes / static_cast<std::uint64_t>(job.workers) / bytes_of_one;
}

struct SnapSize {
  std::uint64_t cells = 0;  // along each edge of the cube
  int y_processes = 1, z_processes = 1;
};

/// The memory is that of two vectors of angular flux: each cell has 8 octants of 10 angles in 8 groups, with 8 bytes
/// each.
SnapSize snap_size(const AppJob& job) {
  constexpr std::uint64_t kCellBytes = std::uint64_t{2} * 8 * 10 * 8 * 8;
  SnapSize size;
  for (int y = 1; y * y <= job.workers; ++y) {
    if (job.workers % y == 0) size.z_processes = y;
  }
  size.y_processes = job.workers / size.z_processes;
  const auto divisor = static_cast<std::uint64_t>(size.y_processes);
  // Both factors must divide the edge, so the edge is a multiple of their product.
  const std::uint64_t unit = divisor * static_cast<std::uint64_t>(size.z_processes);
  size.cells = std::max<std::uint64_t>(cube_root(job.bytes / kCellBytes) / unit, 1) * unit;
  return size;
}

}  // namespace

std::uint64_t cube_root(std::uint64_t number) noexcept {
  std::uint64_t root = 1;
  while ((root + 1) * (root + 1) * (root + 1) <= number) ++root;
  return root;
}

ThreeFactors three_factors(int workers) noexcept {
  ThreeFactors best{workers, 1, 1};
  for (int z = 1; z * z * z <= workers; ++z) {
    if (workers % z != 0) continue;
    for (int y = z; y * y <= workers / z; ++y) {
      if (workers / z % y == 0 && workers / z / y <= best.x) best = {workers / z / y, y, z};
    }
  }
  return best;
}

AppCommand lulesh_command(const AppJob& job) {
  constexpr std::uint64_t kPointBytes = 1100;
  const std::uint64_t edge = std::max<std::uint64_t>(cube_root(each_has(job, kPointBytes)), 4);
  return {mpi_launcher(job.workers), "lulesh2.0", {"-s", std::to_string(edge), "-i", "100"}};
}

bool lulesh_takes(int workers) {
  const auto number = static_cast<std::uint64_t>(workers);
  const std::uint64_t root = cube_root(number);
  return root * root * root == number;
}

AppCommand amg_command(const AppJob& job) {
  constexpr std::uint64_t kPointBytes = 1100;  // 27 entries per row of each matrix, and the coarser levels
  const ThreeFactors processes = three_factors(job.workers);
  // As published, strong scaling halves the box in one direction after the other, so the edges of the box are divided,
  // not its volume.
  const std::uint64_t whole = cube_root(each_has(job, kPointBytes) * static_cast<std::uint64_t>(job.workers));
  const std::uint64_t own = cube_root(each_has(job, kPointBytes));
  const auto edge = [&](int along) {
    return std::to_string(std::max<std::uint64_t>(job.weak ? own : whole / static_cast<std::uint64_t>(along), 4));
  };
  return {mpi_launcher(job.workers),
          "amg",
          {"-problem", "1", "-P", std::to_string(processes.x), std::to_string(processes.y), std::to_string(processes.z),
           "-n", edge(processes.x), edge(processes.y), edge(processes.z)}};
}

AppCommand vpic_command(const AppJob& job) {
  constexpr int kStrong = 2048;  // particles in a cell with one process
  constexpr int kWeak = 512;
  // The program writes the file `energies` into the working folder.
  std::vector<std::string> launcher = {"sh", "-c", "\"$@\" && mv energies \"$0\"", job.output};
  for (const std::string& word : mpi_launcher(job.workers)) launcher.push_back(word);
  return {launcher, fmt::format("vpic_lpi_{}", job.weak ? kWeak : kStrong / job.workers), {}};
}

bool vpic_takes(int workers) {
  return workers == 1 || workers == 2 || workers == 4 || workers == 8;
}

AppCommand snap_command(const AppJob& job) {
  return {mpi_launcher(job.workers), "snap", {"--fi", job.input, "--fo", job.output}};
}

void write_snap_input(const AppJob& job, std::ostream& to) {
  const SnapSize size = snap_size(job);
  to << fmt::format(
      "! Made by ringside experiment apps\n&invar\n  nthreads=1\n  npey={}\n  npez={}\n  ndimen=3\n"
      "  nx={}\n  lx=1.0\n  ny={}\n  ly=1.0\n  nz={}\n  lz=1.0\n  ichunk={}\n"
      "  nmom=1\n  nang=10\n  ng=8\n  mat_opt=1\n  src_opt=1\n  timedep=1\n  it_det=0\n  tf=1.0\n  nsteps=2\n"
      "  iitm=5\n  oitm=10\n  epsi=1.E-4\n  fluxp=1\n  scatp=0\n  fixup=0\n/\n",
      size.y_processes, size.z_processes, size.cells, size.cells, size.cells, size.cells);
}

}  // namespace ringside
