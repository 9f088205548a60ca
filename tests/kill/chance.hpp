// SPDX-License-Identifier: BSD-3-Clause
// What is random in a life: when a process is killed, and the options it is started with.
#pragma once

#include <functional>
#include <random>
#include <string>

namespace ringside::testing {

/// Usually waits until `progress` is true, so that the killed process has something to lose. False if that never
/// happens.
bool let_work_begin(std::mt19937_64& random, const std::function<bool()>& progress);

/// Waits for a random time: often short, sometimes well into the work.
void let_time_pass(std::mt19937_64& random, int at_most_ms);

/// True once in `n` times.
bool one_in(int n, std::mt19937_64& random);

/// A random `--coordination` for each life of a producer.
std::string any_coordination(std::mt19937_64& random);

/// A random `--reduce` for each life of an analyzer.
std::string any_reduction(std::mt19937_64& random);

/// A random `--elastic` for producer or analyzer, if each has a core of its own.
std::string any_elastic(std::mt19937_64& random);

}  // namespace ringside::testing
