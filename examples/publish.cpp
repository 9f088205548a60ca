// SPDX-License-Identifier: BSD-3-Clause
// The solver of publish.c in C++20. Against an installed library, in any folder:
//     c++ -std=c++20 -o publish publish.cpp $(pkg-config --cflags --libs ringside)
//     ringside run --pool heat.pool -- ./publish 2000
// publish_from_your_solver.cpp is longer: options, scalars, Ctrl-C, and a solver that writes straight into shared
// memory.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ringside.hpp>

namespace {

void heat_step(std::vector<double>& x) {
  double left = x.front();
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    const double here = x[i];
    x[i] += 0.25 * (left - 2 * here + x[i + 1]);
    left = here;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::uint64_t iterations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  std::vector<double> x(10'000, 0.0);
  x.front() = 100;

  ringside::Writer run({}, {ringside::field<double>("x", {x.size()}, "K")});
  std::ranges::copy(run.kept<double>(0), x.begin());  // nothing, if the run begins anew
  for (std::uint64_t k = run.next_iteration(); k <= iterations && run.claim(); ++k) {  // your loop
    heat_step(x);                                                                      // your solver
    std::ranges::copy(x, run.buffer<double>(0).begin());
    run.publish(k);
  }
  run.detach();
  return 0;
} catch (const ringside::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}
