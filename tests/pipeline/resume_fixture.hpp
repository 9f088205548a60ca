// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tests of resumed runs: runs that are killed, and the iterates of undisturbed runs.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside::testing {

class ResumeTest : public PipelineTest {
 protected:
  /// The last iterate of an undisturbed run.
  std::string undisturbed(const std::string& matrix, const Words& more, const std::string& name = "last.npy") const {
    const std::string pool = folder_.file("undisturbed.pool");
    expect_done(joined({"run", "--matrix=" + matrix, "--pool=" + pool, "--quiet"}, more));
    return export_last(pool, name);
  }

  /// Starts an endless run, kills both of its processes once it iterates, and returns the newest kept iteration.
  std::uint64_t kill_a_run(const std::string& matrix, Words more) const {
    // Orphans become children of this process, which can then wait for the killed analyzer. Afterwards, the pool is
    // free.
    EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    more.emplace_back(kEndless);
    {
      Process ringside("ringside", run_arguments(matrix, more));
      EXPECT_TRUE(ringside.wait_for_err("iteration "));
      const auto producers = children_of(ringside.pid(), "ringside-producer");
      const auto analyzers = children_of(ringside.pid(), "ringside-analyzer");
      EXPECT_TRUE(producers.size() == 1 && analyzers.size() == 1);
      ringside.signal(SIGSTOP);  // otherwise `ringside run` would replace the killed analyzer
      if (!analyzers.empty()) kill(analyzers[0], SIGKILL);
      if (!producers.empty()) kill(producers[0], SIGKILL);
      ringside.signal(SIGKILL);
      ringside.finish();
      while (waitpid(-1, nullptr, 0) > 0) {
      }
    }
    return pool_info()["iterates"].back()["iteration"].get<std::uint64_t>();
  }
};

}  // namespace ringside::testing
