// SPDX-License-Identifier: BSD-3-Clause
// The time that a plug-in adds to a sweep of the reductions, compared with a sum in a separate pass over the same
// blocks. Measured in turn: the sweep without the plug-in, the sweep with the plug-in, and only the sum.
//     bench_plug_in_cost FILE.so:NAME [ENTRIES]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/programs/machine_header.hpp"
#include "common/json/json.hpp"
#include "common/platform/clock.hpp"
#include "common/program/program.hpp"
#include "common/reductions/reduction.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/threads/openmp_team.hpp"

namespace ringside {
namespace {

constexpr int kRepeats = 31;
constexpr double kTimeoutS = 60;

/// A block's sum, added in the same way as Ringside's reductions do: 16 running sums, of which halves are added
/// repeatedly.
double sum_of(const double* x, std::size_t rows) noexcept {
  double sums[16] = {};
  const std::size_t whole = rows / 16 * 16;
  for (std::size_t row = 0; row < whole; row += 16) {
    for (std::size_t lane = 0; lane < 16; ++lane) sums[lane] += x[row + lane];
  }
  for (std::size_t row = whole; row < rows; ++row) sums[row - whole] += x[row];
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: bench_plug_in_cost FILE.so:NAME [ENTRIES]\n", stderr);
    return 2;
  }
  const std::uint64_t entries = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4'000'000;
  const Schema schema = Schema::x_only(entries);
  std::vector<double> x(schema.payload_bytes() / sizeof(double));
  for (std::uint64_t i = 0; i < entries; ++i) x[i] = 1e-6 * (1 + std::sin(static_cast<double>(i) * 1e-4));
  const std::vector<std::string> specs = {argv[1]};
  PlugInSet plug_ins(specs, kTimeoutS);
  OpenMpTeam team;
  StepReducer without(schema, team);
  StepReducer with(schema, team, &plug_ins);
  const std::uint64_t blocks = (entries + kReductionBlockRows - 1) / kReductionBlockRows;
  std::vector<double> block_sums(blocks);
  std::vector<double> without_ns;
  std::vector<double> with_ns;
  std::vector<double> sum_ns;
  std::vector<double> ratio;
  for (int repeat = 0; repeat <= kRepeats; ++repeat) {
    const std::int64_t t0 = now_ns();
    without.reduce(x.data(), nullptr, 1);
    const std::int64_t t1 = now_ns();
    with.reduce(x.data(), nullptr, 1);
    const std::int64_t t2 = now_ns();
    const std::uint64_t pieces = team.pieces(blocks, kReductionBlocksInPiece);
    team.share(pieces, [&](std::uint64_t piece, int) noexcept {
      for (std::uint64_t b = piece_begin(blocks, piece, pieces); b < piece_begin(blocks, piece + 1, pieces); ++b) {
        const std::uint64_t first = b * kReductionBlockRows;
        block_sums[b] = sum_of(&x[first], std::min<std::uint64_t>(kReductionBlockRows, entries - first));
      }
    });
    const std::int64_t t3 = now_ns();
    if (repeat == 0) continue;  // warms up
    without_ns.push_back(static_cast<double>(t1 - t0));
    with_ns.push_back(static_cast<double>(t2 - t1));
    sum_ns.push_back(static_cast<double>(t3 - t2));
    ratio.push_back(static_cast<double>((t2 - t1) - (t1 - t0)) / static_cast<double>(t3 - t2));
  }
  double total = 0;  // uses every sum, so that the compiler leaves out none
  for (const double sum : block_sums) total += sum;
  Json result = bench::machine_header();
  result["entries"] = entries;
  result["threads"] = team.threads();
  result["sum"] = total;
  result["sweep"] = bench::spread(without_ns, "ns");
  result["sweep_with_plug_in"] = bench::spread(with_ns, "ns");
  result["sum_alone"] = bench::spread(sum_ns, "ns");
  result["added_over_sum_alone"] = bench::spread(ratio, "");
  std::puts(result.dump_sorted(2).c_str());
  return 0;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  return ringside::run_program([&] { return ringside::run(argc, argv); });
}
