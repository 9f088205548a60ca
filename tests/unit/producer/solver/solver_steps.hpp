// SPDX-License-Identifier: BSD-3-Clause
// The steps of any solver, kept by tests: copies of payload and scalars, from which another solver can continue.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "producer/solver/solver.hpp"

namespace ringside::testing {

/// A step, as in a ring.
struct Step {
  std::vector<std::byte> payload;
  std::vector<std::uint64_t> scalars;
  Change change;

  std::vector<double> vector(const Schema& schema, std::size_t variable) const {
    const VariablePlace& place = schema.place(variable);
    std::vector<double> values(place.entries);
    std::memcpy(values.data(), payload.data() + place.offset, place.bytes);
    return values;
  }
};

/// Makes the steps of a solver, one after another. Memory that the solver does not write contains NaN.
class Stepper {
 public:
  /// Begins with step 0.
  explicit Stepper(Solver& solver) : solver_(solver), payload_(blank(solver)) {
    solver_.start(payload_.data());
    solver_.prepare(payload_.data(), {});
  }
  /// Begins with a kept step.
  Stepper(Solver& solver, const Step& kept) : solver_(solver), payload_(kept.payload) {
    solver_.prepare(payload_.data(), kept.scalars);
  }

  Step next() {
    std::vector<std::byte> made = blank(solver_);
    Step step;
    step.change = solver_.iterate(payload_.data(), made.data());
    step.scalars = {std::bit_cast<std::uint64_t>(step.change.l1), std::bit_cast<std::uint64_t>(step.change.linf)};
    const std::span<const std::uint64_t> further = solver_.further_scalars();
    step.scalars.insert(step.scalars.end(), further.begin(), further.end());
    payload_ = step.payload = made;
    return step;
  }

  std::vector<Step> next(int count) {
    std::vector<Step> steps;
    for (int k = 0; k < count; ++k) steps.push_back(next());
    return steps;
  }

 private:
  static std::vector<std::byte> blank(const Solver& solver) {
    return std::vector<std::byte>(solver.variables().payload_bytes(), std::byte{0xff});
  }

  Solver& solver_;
  std::vector<std::byte> payload_;
};

/// Compares the variables and the scalars; the bytes between two variables have no meaning.
inline bool same_bits(const Schema& schema, const Step& a, const Step& b) {
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const VariablePlace& place = schema.place(v);
    if (std::memcmp(a.payload.data() + place.offset, b.payload.data() + place.offset, place.bytes) != 0) return false;
  }
  return a.scalars == b.scalars;
}

}  // namespace ringside::testing
