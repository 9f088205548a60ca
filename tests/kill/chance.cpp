// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/chance.hpp"

#include <poll.h>

#include <cstdint>
#include <ctime>

#include "common/platform/clock.hpp"
#include "tests/kill/victim.hpp"

namespace ringside::testing {

bool let_work_begin(std::mt19937_64& random, const std::function<bool()>& progress) {
  if (std::uniform_int_distribution<int>(0, 3)(random) == 0) return true;
  for (const std::int64_t deadline = now_ns() + std::int64_t{kHangMs} * 1'000'000; !progress();) {
    if (now_ns() > deadline) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

void let_time_pass(std::mt19937_64& random, int at_most_ms) {
  const double share = std::uniform_real_distribution<double>(0, 1)(random);
  const auto us = static_cast<long>(share * share * at_most_ms * 1000);
  const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
  ppoll(nullptr, 0, &time, nullptr);
}

std::string any_coordination(std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(0, 1)(random) == 0 ? "locks" : "messages";
}

std::string any_reduction(std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(0, 1)(random) == 0 ? "--reduce=slot" : "--reduce=transfer";
}

std::string any_elastic(std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(0, 1)(random) == 0 ? "--elastic=off" : "--elastic=on";
}

bool one_in(int n, std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(1, n)(random) == 1;
}

}  // namespace ringside::testing
