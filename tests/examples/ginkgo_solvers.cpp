// SPDX-License-Identifier: BSD-3-Clause
// Solves one problem with a solver of Ginkgo whose iterates are published, and once more without publishing.
// ginkgo_test.py runs this program: ginkgo_solvers CASE ITERATIONS prints how many iterates are published, and how many
// entries of x differ from those of the same solve without a logger. The exit code is 1 if any entry differs. x is
// written to the file x.bin.
#include <cmath>
#include <complex>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <ringside_ginkgo.hpp>

namespace {

constexpr int kPoints = 400;

template <class T>
using Vectors = gko::matrix::Dense<T>;

/// Diffusion along a rod.
template <class T>
std::shared_ptr<gko::matrix::Csr<T, int>> rod(std::shared_ptr<const gko::Executor> executor) {
  gko::matrix_data<T, int> entries(gko::dim<2>(kPoints, kPoints));
  for (int i = 0; i < kPoints; ++i) {
    if (i > 0) entries.nonzeros.emplace_back(i, i - 1, T(-0.25f));
    entries.nonzeros.emplace_back(i, i, T(0.55f));
    if (i + 1 < kPoints) entries.nonzeros.emplace_back(i, i + 1, T(-0.25f));
  }
  auto made = gko::share(gko::matrix::Csr<T, int>::create(executor));
  made->read(entries);
  return made;
}

/// The columns of x are not adjacent in memory: this tests that the stride is respected.
template <class T>
std::unique_ptr<Vectors<T>> columns(std::shared_ptr<const gko::Executor> executor, gko::size_type count, double from) {
  auto made = Vectors<T>::create(executor, gko::dim<2>(kPoints, count), count + 3);
  for (gko::size_type row = 0; row < kPoints; ++row) {
    for (gko::size_type column = 0; column < count; ++column) {
      made->at(row, column) = T(static_cast<float>(from * std::sin(static_cast<double>(3 * row + column))));
    }
  }
  return made;
}

template <class Solver>
int solve(gko::size_type iterations, gko::size_type count) {
  using T = typename Solver::value_type;
  const auto executor = gko::ReferenceExecutor::create();
  const auto A = rod<T>(executor);
  const auto b = columns<T>(executor, count, 1);
  auto x = columns<T>(executor, count, 0);
  const auto limit = gko::share(gko::stop::Iteration::build().with_max_iters(iterations).on(executor));
  const auto reduction = gko::share(gko::stop::ResidualNorm<T>::build().with_reduction_factor(1e-5f).on(executor));
  const auto solver = Solver::build().with_criteria(limit, reduction).on(executor)->generate(A);

  ringside::Writer run = ringside::ginkgo::attach(x.get(), {.solver = "ginkgo"});
  const auto expected = gko::clone(x);
  solver->apply(b, expected);
  solver->add_logger(ringside::ginkgo::Logger<T>::create(run));
  solver->apply(b, x);
  run.detach();
  const auto published = run.counts().published;

  int differ = 0;
  std::ofstream file("x.bin", std::ios::binary);
  for (gko::size_type row = 0; row < kPoints; ++row) {
    for (gko::size_type column = 0; column < count; ++column) {
      differ += x->at(row, column) != expected->at(row, column);
      file.write(reinterpret_cast<const char*>(&x->at(row, column)), sizeof(T));
    }
  }
  std::printf("%llu published, %d entries of x differ\n", static_cast<unsigned long long>(published), differ);
  return differ == 0 ? 0 : 1;
}

const std::map<std::string, std::function<int(gko::size_type)>> kCases = {
    {"cg", [](auto iterations) { return solve<gko::solver::Cg<double>>(iterations, 1); }},
    {"cg_columns", [](auto iterations) { return solve<gko::solver::Cg<double>>(iterations, 3); }},
    {"bicgstab_float", [](auto iterations) { return solve<gko::solver::Bicgstab<float>>(iterations, 1); }},
    {"gmres", [](auto iterations) { return solve<gko::solver::Gmres<double>>(iterations, 1); }},
    {"gmres_complex", [](auto iterations) { return solve<gko::solver::Gmres<std::complex<double>>>(iterations, 2); }},
    {"ir", [](auto iterations) { return solve<gko::solver::Ir<double>>(iterations, 1); }},
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  return kCases.at(argv[1])(static_cast<gko::size_type>(std::atol(argv[2])));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
