// SPDX-License-Identifier: BSD-3-Clause
// The triad of STREAM (McCalpin, 1995): a[i] = b[i] + s * c[i] over three arrays. Each element counts as 24 B. An
// ordinary store also reads its cache line, which is not counted. The first pass warms up; the median of the other
// passes is reported.
#include "bench/memory/far_array.hpp"
#include "bench/memory/random.hpp"
#include "bench/memory/workload.hpp"

namespace {

using namespace ringside::bench;

int passes = 3;

Outcome measure(const Workload& workload) {
  const std::size_t n = workload.data_bytes / (3 * sizeof(double));
  const auto a = far_array_of<double>(n);
  const auto b = far_array_of<double>(n);
  const auto c = far_array_of<double>(n);
  arrays_reserved();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = 0;
    b[i] = unit(mix(workload.seed + i));
    c[i] = static_cast<double>(i % 1024);
  }
  std::vector<double> times_s;
  for (int pass = 0; pass <= passes; ++pass) {
    const double scale = 1.0 + pass;
    const double time_s = timed_s([&] {
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + scale * c[i];
    });
    if (pass > 0) times_s.push_back(time_s);
  }
  const double counted_gb = 24e-9 * static_cast<double>(n);
  return {{{"gb_per_s", counted_gb / median_of(times_s)}, {"pass_s", spread_of(times_s)}}, checksum_of(a)};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv,
                     {"triad", "Computes STREAM's triad of arrays that may be larger than DRAM",
                      count_option("--passes", passes, "Measured passes"), measure});
}
