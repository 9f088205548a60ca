// SPDX-License-Identifier: BSD-3-Clause
// Positive definite matrices, and the steps of a solver as tests keep them: copies of payload and scalars.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "producer/solver/cg.hpp"
#include "tests/reference/small_matrix.hpp"

namespace ringside::testing {

/// Off the diagonal -1 for each pair of different rows that `links` link either way; on it the number of these, plus
/// one: the Laplacian of the graph plus the identity.
inline CsrMatrix laplacian_plus_one(std::uint64_t rows, const std::vector<reference::Entry>& links) {
  std::vector<reference::Entry> both;
  for (const reference::Entry& link : links) {
    if (link.row == link.column) continue;
    both.push_back({link.row, link.column, -1});
    both.push_back({link.column, link.row, -1});
  }
  const CsrMatrix neighbours = reference::build_rows(rows, both);  // each pair once
  for (std::uint64_t row = 0; row < rows; ++row) {
    both.push_back({row, row, 1.0 + static_cast<double>(neighbours.row_begin[row + 1] - neighbours.row_begin[row])});
  }
  return reference::build_rows(rows, both);
}

/// Numbers between -1 and 1.
inline std::vector<double> random_values(std::uint64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::vector<double> values(count);
  for (double& v : values) v = value(random);
  return values;
}

/// A x.
inline std::vector<double> product(const CsrMatrix& matrix, const std::vector<double>& x) {
  std::vector<double> sums(matrix.rows, 0.0);
  for (std::uint64_t i = 0; i < matrix.rows; ++i) {
    for (std::uint64_t e = matrix.row_begin[i]; e < matrix.row_begin[i + 1]; ++e) {
      sums[i] += matrix.value[e] * x[matrix.column[e]];
    }
  }
  return sums;
}

/// A step as a ring keeps it.
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

/// Steps of a solver, one after the other. Memory that the solver does not write holds NaN.
class Stepper {
 public:
  /// From step 0.
  explicit Stepper(Solver& solver) : solver_(solver), payload_(blank(solver)) {
    solver_.start(payload_.data());
    solver_.prepare(payload_.data(), {});
  }
  /// From a kept step.
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

/// The variables and the scalars; the bytes between two variables are nobody's.
inline bool same_bits(const Schema& schema, const Step& a, const Step& b) {
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const VariablePlace& place = schema.place(v);
    if (std::memcmp(a.payload.data() + place.offset, b.payload.data() + place.offset, place.bytes) != 0) return false;
  }
  return a.scalars == b.scalars;
}

}  // namespace ringside::testing
