// What is left to chance in a life: when a process is killed, and with which options it was started.
#pragma once

#include <functional>
#include <random>
#include <string>

namespace ringside::testing {

/// Mostly waits until `progress` is true: what is killed has something to lose then. False if that never happens.
bool let_work_begin(std::mt19937_64& random, const std::function<bool()>& progress);

/// Then a random instant: often soon, sometimes well into the work.
void let_time_pass(std::mt19937_64& random, int at_most_ms);

/// True once in `n` times.
bool one_in(int n, std::mt19937_64& random);

/// Each life of a producer may tell of its steps in another way than the one before.
std::string any_coordination(std::mt19937_64& random);

/// And each life of an analyzer may reduce in the slots or on the way there.
std::string any_reduction(std::mt19937_64& random);

/// And either may lend its cores while it waits, where there is one for each.
std::string any_elastic(std::mt19937_64& random);

}  // namespace ringside::testing
