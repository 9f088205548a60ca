// SPDX-License-Identifier: BSD-3-Clause
// A small problem, and the folder in which the problem is measured.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "node/kernels/kernel_bench.hpp"
#include "producer/solver/problem.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {

class WorkbenchTest : public ::testing::Test {
 protected:
  static Problem small_problem() {
    SolveOptions options;
    options.matrix = "grid:20";
    return load_problem(options);
  }

  Workbench bench(RingPool& pool, Durability durability = Durability::kProcess) {
    return {
        .source = source_, .pool = pool, .run = problem_.description, .durability = durability, .cpus = allowed_cpus()};
  }

  bool folder_is_empty() const { return std::filesystem::is_empty(folder_.path()); }

  testing::TemporaryFolder folder_;
  Problem problem_ = small_problem();
  IterateSource source_{*problem_.solver};
};

}  // namespace ringside
