// SPDX-License-Identifier: BSD-3-Clause
// A run of five variables that differ in dtype, role and shape, with five scalars, for tests that depend on the number
// of variables. The payloads differ in each entry of each step.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "common/reductions/reduction_catalogue.hpp"
#include "common/reductions/step_reducer.hpp"
#include "tests/reference/serial_fields.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {

/// The size of w is no multiple of 8 bytes. All variables except alpha have two chunks of 16 KiB.
inline Schema several_variables() {
  return Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {40, 100}},
                     {.name = "v", .dtype = DType::kF32, .shape = {5001}, .unit = "m s-1"},
                     {.name = "w", .dtype = DType::kI16, .shape = {8195}},
                     {.name = "r", .dtype = DType::kC128, .shape = {1500}, .role = Role::kState},
                     {.name = "alpha", .dtype = DType::kF64, .shape = {}, .role = Role::kState}});
}

inline std::vector<Scalar> five_scalars() {
  return {{.name = "residual_l1"},
          {.name = "residual_linf"},
          {.name = "rho"},
          {.name = "inner", .type = ValueType::kI64},
          {.name = "restarts", .type = ValueType::kI64}};
}

inline RunDescription run_with(const Schema& schema, std::uint64_t run = 7) {
  RunDescription description = run_of(schema.place(0).entries, run);
  description.schema_id = schema.id();
  return description;
}

/// The step of iteration k with five scalars.
inline StepWithScalars scalars_of(std::uint64_t k) {
  StepWithScalars step = step_of(k);
  step.set_scalar(1, std::bit_cast<std::uint64_t>(0.5 / static_cast<double>(k)));
  step.set_scalar(2, std::bit_cast<std::uint64_t>(static_cast<double>(k) + 0.25));
  step.set_scalar(3, 100 + k);
  step.set_scalar(4, ~k);
  return step;
}

/// The payload that a solver with these variables publishes as iteration k. The bytes between the variables are not 0.
inline std::vector<std::byte> payload_of(const Schema& schema, std::uint64_t k) {
  std::vector<std::byte> payload(schema.payload_bytes(), std::byte{0xee});
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const VariablePlace& place = schema.place(v);
    reference::with_type_of(schema.variables()[v].dtype, [&]<class T>(T entry) {
      for (std::uint64_t i = 0; i < place.entries; ++i) {
        const double value = static_cast<double>(1000 * k + 100 * v) + static_cast<double>(i % 4096) / 4;
        if constexpr (std::is_integral_v<T>) entry = static_cast<T>(static_cast<std::uint64_t>(value));
        if constexpr (std::is_floating_point_v<T>) entry = static_cast<T>(value);
        if constexpr (!std::is_arithmetic_v<T>) entry = static_cast<T>(std::complex<double>(value, -value));
        std::memcpy(payload.data() + place.offset + i * sizeof entry, &entry, sizeof entry);
      }
    });
  }
  return payload;
}

/// A ring in memory for a schema, and the ring's writer in a run. Every step is reduced while it is copied into its
/// slot.
struct VariablesRing {
  explicit VariablesRing(const Schema& of_schema, const std::vector<Scalar>& scalars = five_scalars(),
                         std::uint32_t slots = 3)
      : schema(of_schema),
        catalogue(catalogue_of(schema, scalars)),
        memory(RingShape::of(schema, catalogue), slots),
        writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower),
        reducer(schema) {
    writer.begin_run(run_with(schema), catalogue);
  }

  KeptSlot newest() const { return recover(memory.ring()).kept.back(); }

  /// Commits iteration k. The results are returned, but not stored.
  std::vector<std::uint64_t> commit(std::uint64_t k) {
    const std::vector<std::byte> payload = payload_of(schema, k);
    EXPECT_EQ(writer.begin(), CommitStatus::kOk);
    writer.copy(payload.data(), scalars_of(k), &reducer);
    EXPECT_EQ(writer.commit(), CommitStatus::kOk);
    const auto words = reducer.finish(writer.payload(), 1);
    return {words.begin(), words.end()};
  }

  PayloadCheck check() const {
    const KeptSlot kept = newest();
    return check_payload(memory.ring(), kept.slot, kept.header);
  }

  Schema schema;
  Catalogue catalogue;
  RingInMemory memory;
  RingWriter writer;
  StepReducer reducer;
};

}  // namespace ringside
