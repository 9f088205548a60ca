// SPDX-License-Identifier: BSD-3-Clause
// A program that solves with Eigen, as a kept run. Only the include and the solver's type differ from a program that
// keeps nothing. Every iterate is kept. If the program was killed, `ringside run --resume` continues with the same
// bits.
//     c++ -std=c++20 -O2 -o publish publish_eigen.cpp $(pkg-config --cflags --libs ringside eigen3)
//     ringside run --pool rod.pool -- ./publish 2000
#include <cstdio>
#include <vector>

#include <Eigen/SparseCore>
#include <ringside_eigen.hpp>

namespace {

constexpr int kPoints = 100'000;

/// The steady temperature of a rod: 2 x_i - x_{i-1} - x_{i+1} = 0 between its ends.
Eigen::SparseMatrix<double> rod() {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < kPoints; ++i) {
    entries.emplace_back(i, i, 2);
    if (i > 0) entries.emplace_back(i, i - 1, -1);
    if (i + 1 < kPoints) entries.emplace_back(i, i + 1, -1);
  }
  Eigen::SparseMatrix<double> A(kPoints, kPoints);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

}  // namespace

int main(int argc, char** argv) try {
  const Eigen::SparseMatrix<double> A = rod();
  Eigen::VectorXd b = Eigen::VectorXd::Zero(kPoints);
  b(0) = 100;  // the hot end

  ringside::eigen::ConjugateGradient<Eigen::SparseMatrix<double>> cg(A);
  cg.setTolerance(1e-10).setMaxIterations(argc > 1 ? std::atol(argv[1]) : 200);
  const Eigen::VectorXd x = cg.solve(b);
  std::printf("%ld iterations, relative residual %g\n", static_cast<long>(cg.iterations()), cg.error());
  return 0;
} catch (const ringside::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}
