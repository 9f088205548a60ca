// SPDX-License-Identifier: BSD-3-Clause
// The schema: the variables of a run, in order, and the place of each in the payload of a step
// (docs/publish/variables.md). It comes from a caller's variables or from the bytes of a peer or a file. It is checked
// when it is made, and immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/schema/schema_layout.hpp"
#include "common/schema/variable.hpp"

namespace ringside {

/// Every variable begins at a multiple of this in the payload.
inline constexpr std::uint64_t kVariableAlignment = 4096;

/// The largest payload of a step: the largest object of libpmemobj minus the meta area of its slot, for one f64
/// variable. With more variables, the ring's limit is up to 1 MiB lower; it is checked when a ring is made.
inline constexpr std::uint64_t kMostPayloadBytes = 17'167'289'216;

/// The largest step of a run of several nodes, each of which keeps a part. The sum over kMostVariables variables of
/// this size still fits 64 bits.
inline constexpr std::uint64_t kMostWholeBytes = std::uint64_t{1} << 54;

/// The place of a variable in the payload.
struct VariablePlace {
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stored_bytes = 0;  // `bytes` rounded up to 8: what is copied and hashed
};

/// A copy shares the content.
class Schema {
 public:
  /// Throws Error (exit code 2), which begins with `where`, in the cases of docs/publish/variables.md (section 9).
  static Schema of(std::vector<Variable> variables, std::string_view where = "variables");

  /// The same for a run of several nodes: at most kMostWholeBytes a step, more than one ring may take.
  static Schema of_whole(std::vector<Variable> variables, std::string_view where = "variables");

  /// One f64 field `x` of `entries` entries: what the solvers of format 2 publish.
  static Schema x_only(std::uint64_t entries);

  /// From the bytes of a peer or a file, which may be hostile. Throws Error (exit code 2), which begins with `where`,
  /// for padding that is not 0, and wherever `of` does.
  static Schema decode(std::span<const VariableDescription> descriptions, std::string_view where);
  std::vector<VariableDescription> encode() const;

  std::span<const Variable> variables() const noexcept;
  std::size_t size() const noexcept { return variables().size(); }
  const VariablePlace& place(std::size_t variable) const noexcept;

  /// From the first byte of the first variable to the last stored byte of the last one.
  std::uint64_t payload_bytes() const noexcept;

  /// hash128 of the encoded descriptions: the names, dtypes, shapes, roles and units, and their order.
  Id128 id() const noexcept;

  /// True for exactly one f64 field `x` of one dimension without a unit.
  bool is_x_only() const noexcept;

  bool operator==(const Schema& other) const noexcept { return id() == other.id(); }

 private:
  struct Content;
  static Schema make(std::vector<Variable> variables, std::string_view where, std::uint64_t most_bytes);
  explicit Schema(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;
};

/// "x f64[4000000], p f64[4000000] state". From more than eight variables, the first seven: "..., and 249 more".
std::string to_text(const Schema& schema);

/// How `here` differs from `kept`: "x f32[8] instead of x f64[8]", "no p f64[8] state", "q f64[8] more". Empty if they
/// are equal; shortened like a schema's text.
std::string difference(const Schema& kept, const Schema& here);

/// The id of the problem with these variables. solver_problem: the id of everything else.
Id128 problem_id_with(const Id128& solver_problem, const Schema& schema) noexcept;

}  // namespace ringside
