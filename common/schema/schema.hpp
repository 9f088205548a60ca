// SPDX-License-Identifier: BSD-3-Clause
// The schema: the variables of a run, in order, and the place of each in the payload of a step
// (docs/publish/variables.md). A schema is made from a caller's variables or from the bytes of a peer or a file. It is
// checked when it is made, and does not change later.
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

/// The offset of every variable in the payload is a multiple of this number.
inline constexpr std::uint64_t kVariableAlignment = 4096;

/// The largest payload of a step: the largest object of libpmemobj minus the meta area of its slot, for one f64
/// variable. With more variables, the limit of a ring is up to 1 MiB lower; that limit is checked when a ring is made.
inline constexpr std::uint64_t kMostPayloadBytes = 17'167'289'216;

/// The largest step of a run of several nodes, each of which keeps a part. The sum over kMostVariables variables of
/// this size still fits 64 bits.
inline constexpr std::uint64_t kMostWholeBytes = std::uint64_t{1} << 54;

/// The place of a variable in the payload.
struct VariablePlace {
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stored_bytes = 0;  // `bytes` rounded up to a multiple of 8: the bytes that are copied and hashed
};

/// Copies share the content.
class Schema {
 public:
  /// Throws Error (exit code 2), whose text begins with `where`, in the cases that docs/publish/variables.md lists
  /// (section 9).
  static Schema of(std::vector<Variable> variables, std::string_view where = "variables");

  /// Like `of`, but for a run of several nodes: a step may have up to kMostWholeBytes, more than fit one ring.
  static Schema of_whole(std::vector<Variable> variables, std::string_view where = "variables");

  /// A schema with one f64 field `x` of `entries` entries, as the solvers of format 2 published it.
  static Schema x_only(std::uint64_t entries);

  /// Decodes the bytes of a peer or a file, which may be hostile. Throws Error (exit code 2), whose text begins with
  /// `where`, for padding that is not 0, and in the cases of `of`.
  static Schema decode(std::span<const VariableDescription> descriptions, std::string_view where);
  std::vector<VariableDescription> encode() const;

  std::span<const Variable> variables() const noexcept;
  std::size_t size() const noexcept { return variables().size(); }
  const VariablePlace& place(std::size_t variable) const noexcept;

  /// The size of the payload, from the first byte of the first variable to the last stored byte of the last variable.
  std::uint64_t payload_bytes() const noexcept;

  /// The hash128 of the encoded descriptions: it covers names, dtypes, shapes, roles and units, and the order of the
  /// variables.
  Id128 id() const noexcept;

  /// Whether the only variable is an f64 field `x` with one dimension and no unit.
  bool is_x_only() const noexcept;

  bool operator==(const Schema& other) const noexcept { return id() == other.id(); }

 private:
  struct Content;
  static Schema make(std::vector<Variable> variables, std::string_view where, std::uint64_t most_bytes);
  explicit Schema(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;
};

/// A text such as "x f64[4000000], p f64[4000000] state". If there are more than eight variables, the first seven:
/// "..., and 249 more".
std::string to_text(const Schema& schema);

/// The differences between `here` and `kept`: "x f32[8] instead of x f64[8]", "no p f64[8] state", "q f64[8] more". The
/// text is empty if the schemas are equal, and is shortened like a schema's text.
std::string difference(const Schema& kept, const Schema& here);

/// The id of the problem with these variables. solver_problem: the id of everything else in the problem.
Id128 problem_id_with(const Id128& solver_problem, const Schema& schema) noexcept;

}  // namespace ringside
