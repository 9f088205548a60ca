// SPDX-License-Identifier: BSD-3-Clause
// Costs of coordination between threads on two cores: the calls of the hand-off, the teams and the loan of cores,
// without work in between. Each function adds samples, in seconds. Needs two cores, except the barrier.
#pragma once

#include <vector>

namespace ringside {

struct CostSamples {
  std::vector<double> hand_off_s;  // publish and announce -> visible to a spinning thread
  std::vector<double> wake_up_s;   // publish and announce -> visible to a sleeping thread
  std::vector<double> loan_s;      // lend -> a guest's first piece, and taking back while the guest works
  std::vector<double> barrier_s;   // OpenMpTeam::share of nothing
};

/// first, last: two cores.
void measure_hand_off(int first, int last, CostSamples& samples);
void measure_wake_up(int first, int last, CostSamples& samples);
void measure_loan(int owner, int borrower, CostSamples& samples);

/// cpus: the cores of the team.
void measure_barrier(const std::vector<int>& cpus, CostSamples& samples);

}  // namespace ringside
