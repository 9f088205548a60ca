// SPDX-License-Identifier: BSD-3-Clause
// A small problem, and the folder in which the problem is measured.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "node/kernels/kernel_bench.hpp"
#include "producer/solver/problem.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {

class WorkbenchTest : public ::testing::Test {
 protected:
  WorkbenchTest() : WorkbenchTest(small_problem()) {}
  explicit WorkbenchTest(Problem problem) : problem_(std::move(problem)) {}

  static Problem small_problem() {
    SolveOptions options;
    options.matrix = "grid:20";
    return load_problem(options);
  }

  /// A pool for the problem's steps.
  RingPool make_pool(bool mapped = true) const {
    return make_nameless_pool(folder_.path(), slots_for(*problem_.solver), mapped);
  }

  Workbench bench(RingPool& pool, Durability durability = Durability::kProcess) {
    return {
        .source = source_, .pool = pool, .run = problem_.description, .durability = durability, .cpus = allowed_cpus()};
  }

  std::uint64_t rows() const { return problem_.solver->rows(); }
  bool folder_is_empty() const { return std::filesystem::is_empty(folder_.path()); }

  testing::TemporaryFolder folder_;
  Problem problem_;
  IterateSource source_{*problem_.solver};
};

}  // namespace ringside
