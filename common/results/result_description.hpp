// SPDX-License-Identifier: BSD-3-Clause
// The description of a result that a run records for each step (docs/publish/variables.md, section 4.5). The run table,
// the attach request and the journal store such descriptions, so a new result needs no new format.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/kernels/hash.hpp"
#include "common/schema/dtype.hpp"
#include "common/schema/schema_layout.hpp"

namespace ringside {

enum class ValueType : std::uint8_t { kF64 = 1, kI64 = 2, kI128 = 3 };

/// The origin of a result, which determines its full name.
enum class ResultSource : std::uint8_t {
  kReduction = 1,  // computed for every field of the described classes: "x.l2"
  kScalar = 2,     // published by the solver with each step: "solver.residual_l1"
  kOther = 3       // any other result: the name is the full name
};

inline constexpr std::uint32_t kNeedsPrevious = 1;  // flag: absent in the first step of a run

/// The largest number of words of a step's results, including presence bits: 8 MiB.
inline constexpr std::uint64_t kMostResultWords = std::uint64_t{1} << 20;

constexpr std::string_view to_string(ValueType type) noexcept {
  constexpr std::string_view kNames[] = {"f64", "i64", "i128"};
  return kNames[static_cast<std::uint8_t>(type) - 1];
}

constexpr std::string_view to_string(ResultSource source) noexcept {
  constexpr std::string_view kNames[] = {"reduction", "scalar", "other"};
  return kNames[static_cast<std::uint8_t>(source) - 1];
}

constexpr std::uint32_t words_of(ValueType type) noexcept {
  return type == ValueType::kI128 ? 2 : 1;
}

struct ResultDescription {
  char name[kNameBytes] = {};  // for a reduction or a scalar: the last part of its full name
  char unit[kUnitBytes] = {};  // for a reduction: empty if the unit is that of its variable
  ValueType type = ValueType::kF64;
  ResultSource source = ResultSource::kOther;
  std::uint16_t classes = 0;  // bits of DTypeClass; 0 unless the source is a reduction
  std::uint32_t count = 1;    // 1: a number; more: an array
  std::uint32_t flags = 0;
  unsigned char origin[16] = {};  // for a plug-in's reduction: its id, most significant byte first; otherwise 0
  unsigned char reserved[4] = {};
};
static_assert(sizeof(ResultDescription) == 128 && std::is_trivially_copyable_v<ResultDescription>);
static_assert(offsetof(ResultDescription, unit) == 64 && offsetof(ResultDescription, type) == 96 &&
              offsetof(ResultDescription, classes) == 98 && offsetof(ResultDescription, count) == 100 &&
              offsetof(ResultDescription, flags) == 104 && offsetof(ResultDescription, origin) == 108);

/// Sets the origin. id: the id of the plug-in that computes the result (PlugIn::id).
void set_origin(ResultDescription& description, const Id128& id) noexcept;
/// The id of the plug-in that computes the result; 0 if no plug-in does.
Id128 origin_of(const ResultDescription& description) noexcept;

/// A number that a solver publishes with each step. The ring keeps the scalars of a step in the step descriptor.
struct Scalar {
  std::string name;
  ValueType type = ValueType::kF64;  // kF64 or kI64
  std::string unit{};
  bool operator==(const Scalar&) const = default;
};

inline constexpr std::size_t kMostScalars = 64;

ResultDescription description_of(const Scalar& scalar) noexcept;

/// The hash of the used descriptions of a run with that schema. Slots and records identify their catalogue by this
/// hash.
std::uint64_t catalogue_hash(std::span<const ResultDescription> descriptions, const Id128& schema_id) noexcept;

/// The value of a scalar, as the word in the hand-off and in the ring: the bits of a double or of a signed integer. The
/// scalar's description (Scalar) gives the type.
struct ScalarValue {
  std::uint64_t word = 0;

  constexpr ScalarValue() noexcept = default;
  constexpr ScalarValue(double value) noexcept : word(std::bit_cast<std::uint64_t>(value)) {}
  constexpr ScalarValue(std::int64_t value) noexcept : word(static_cast<std::uint64_t>(value)) {}

  constexpr double f64() const noexcept { return std::bit_cast<double>(word); }
  constexpr std::int64_t i64() const noexcept { return static_cast<std::int64_t>(word); }
};
static_assert(sizeof(ScalarValue) == sizeof(std::uint64_t));

}  // namespace ringside
