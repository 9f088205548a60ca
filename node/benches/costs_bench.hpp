// SPDX-License-Identifier: BSD-3-Clause
// Costs of coordination between threads on two cores: the calls of the hand-off, the teams and the loan of cores,
// without work in between. Each function adds samples, in seconds. All functions except measure_barrier need two cores.
#pragma once

#include <vector>

namespace ringside {

struct CostSamples {
  std::vector<double> hand_off_s;  // from publishing and announcing a step until a spinning thread sees it
  std::vector<double> wake_up_s;   // from publishing and announcing a step until a sleeping thread sees it
  std::vector<double> loan_s;      // from lending a core to the guest's first piece of work, plus taking it back while
                                   // the guest works
  std::vector<double> barrier_s;   // OpenMpTeam::share without work
};

/// first, last: two cores.
void measure_hand_off(int first, int last, CostSamples& samples);
void measure_wake_up(int first, int last, CostSamples& samples);
void measure_loan(int owner, int borrower, CostSamples& samples);

/// cpus: the cores of the team.
void measure_barrier(const std::vector<int>& cpus, CostSamples& samples);

}  // namespace ringside
