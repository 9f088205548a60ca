// SPDX-License-Identifier: BSD-3-Clause
// The rules of docs/publish/variables.md: limits, places in the payload, and a one-line message for each mistake.
#include "common/schema/schema.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

Variable f64(std::string name, std::vector<std::uint64_t> shape) {
  return {.name = std::move(name), .dtype = DType::kF64, .shape = std::move(shape)};
}

std::string refusal(std::vector<Variable> variables) {
  return failure_line([&] { Schema::of(std::move(variables), "W"); });
}

constexpr const char* kExpectedNames = "expected 1 to 63 of A-Z a-z 0-9 _ . -, beginning with a letter or _";

TEST(SchemaTest, OneVectorLiesAtTheBeginningOfThePayload) {
  const Schema schema = Schema::x_only(1001);
  EXPECT_EQ(schema.place(0).offset, 0u);
  EXPECT_EQ(schema.place(0).entries, 1001u);
  EXPECT_EQ(schema.payload_bytes(), 8008u);
  EXPECT_TRUE(schema.is_x_only());
  EXPECT_EQ(to_text(schema), "x f64[1001]");
}

TEST(SchemaTest, VariablesBeginAtPagesAndAreStoredInWholeWords) {
  const Schema schema = Schema::of({{.name = "a", .dtype = DType::kI16, .shape = {3}},
                                    {.name = "b", .dtype = DType::kC128, .shape = {2, 128, 2}, .role = Role::kState},
                                    {.name = "c", .dtype = DType::kU8, .shape = {}, .unit = "m s-1"}});
  EXPECT_EQ(schema.place(0).bytes, 6u);
  EXPECT_EQ(schema.place(0).stored_bytes, 8u);
  EXPECT_EQ(schema.place(1).offset, 4096u);
  EXPECT_EQ(schema.place(1).entries, 512u);
  EXPECT_EQ(schema.place(1).bytes, 8192u);
  EXPECT_EQ(schema.place(2).offset, 12288u);
  EXPECT_EQ(schema.place(2).entries, 1u);
  EXPECT_EQ(schema.payload_bytes(), 12296u);
  EXPECT_FALSE(schema.is_x_only());
  EXPECT_EQ(to_text(schema), "a i16[3], b c128[2,128,2] state, c u8 m s-1");
}

TEST(SchemaTest, EveryDTypeHasItsNameItsBytesAndItsClass) {
  std::string seen;
  for (std::uint16_t number = 1; is_dtype(number); ++number) {
    const DType dtype{number};
    EXPECT_EQ(dtype_named(to_string(dtype)), dtype);
    seen += std::string(to_string(dtype)) + ":" + std::to_string(bytes_of(dtype)) + ":" +
            std::to_string(static_cast<int>(class_of(dtype))) + " ";
  }
  EXPECT_EQ(seen, "f32:4:1 f64:8:1 c64:8:2 c128:16:2 i8:1:4 i16:2:4 i32:4:4 i64:8:4 u8:1:4 u16:2:4 u32:4:4 u64:8:4 ");
  EXPECT_FALSE(is_dtype(0));
  EXPECT_FALSE(is_dtype(13));
  EXPECT_EQ(dtype_named("f16"), std::nullopt);
}

TEST(SchemaTest, TheIdCoversEveryPartOfAVariableAndTheOrder) {
  const std::vector<Variable> base = {f64("x", {8}), f64("y", {2, 4})};
  const Id128 id = Schema::of(base).id();
  EXPECT_EQ(Schema::of(base).id(), id);
  std::vector<std::vector<Variable>> others = {{base[1], base[0]}, {base[0]}};
  for (int change = 0; change < 5; ++change) {
    std::vector<Variable>& other = others.emplace_back(base);
    if (change == 0) other[0].name = "z";
    if (change == 1) other[0].dtype = DType::kI64;
    if (change == 2) other[1].shape = {4, 2};
    if (change == 3) other[1].role = Role::kState;
    if (change == 4) other[1].unit = "m";
  }
  for (const std::vector<Variable>& other : others) EXPECT_NE(Schema::of(other).id(), id) << to_text(Schema::of(other));
  const Id128 solver{1, 2};
  EXPECT_NE(problem_id_with(solver, Schema::of(base)), problem_id_with(solver, Schema::of(others[0])));
  EXPECT_NE(problem_id_with(solver, Schema::of(base)), problem_id_with({1, 3}, Schema::of(base)));
}

TEST(SchemaTest, TheNumberOfVariablesIsLimited) {
  EXPECT_EQ(refusal({}), "W: found 0 variables, expected 1 to 256");
  EXPECT_EQ(refusal(std::vector<Variable>(10'000, f64("x", {1}))), "W: found 10000 variables, expected 1 to 256");
  std::vector<Variable> most;
  for (int i = 0; i < 256; ++i) most.push_back(f64("v" + std::to_string(i), {1}));
  EXPECT_EQ(refusal(most), "");
}

TEST(SchemaTest, WrongNamesAreRefused) {
  EXPECT_EQ(refusal({f64("a", {1}), f64("b", {1}), f64("", {1})}),
            std::string("W: variable 2 has no name; ") + kExpectedNames);
  EXPECT_EQ(refusal({f64(std::string(70, 'a'), {1})}),
            std::string("W: variable 0: found a name of 70 bytes ('aaaaaaaaaaaaaaaa...'); ") + kExpectedNames);
  EXPECT_EQ(refusal({f64(std::string(63, 'a'), {1})}), "");
  EXPECT_EQ(refusal({f64("1x", {1})}),
            std::string("W: variable 0: the name '1x' has '1' at byte 0; ") + kExpectedNames);
  EXPECT_EQ(refusal({f64("x y", {1})}),
            std::string("W: variable 0: the name 'x y' has ' ' at byte 1; ") + kExpectedNames);
  EXPECT_EQ(refusal({f64("x\n", {1})}),
            std::string("W: variable 0: the name 'x\\n' has '\\n' at byte 1; ") + kExpectedNames);
  EXPECT_EQ(refusal({f64("x", {1}), f64("y", {1}), f64("x", {2})}),
            "W: variables 0 and 2 are both named 'x'; expected each name once");
  EXPECT_EQ(refusal({f64("x", {1}), f64("solver.r", {1})}),
            "W: variable 1: 'solver.r' begins with 'solver', which is reserved for the solver's scalars; expected "
            "another name");
  EXPECT_EQ(refusal({f64("analysis", {1})}),
            "W: variable 0: 'analysis' begins with 'analysis', which is reserved for results of analyses; expected "
            "another name");
  EXPECT_EQ(refusal({f64("solver_r", {1}), f64("_.-Z9", {1})}), "");
}

TEST(SchemaTest, WrongTypesRolesAndUnitsAreRefused) {
  EXPECT_EQ(refusal({{.name = "x", .dtype = DType{77}, .shape = {1}}}),
            "W: variable 'x': dtype 77; expected one of f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64");
  EXPECT_EQ(refusal({{.name = "x", .dtype = DType::kF64, .shape = {1}, .role = Role{7}}}),
            "W: variable 'x': role 7; expected field or state");
  EXPECT_EQ(refusal({{.name = "x", .shape = {1}, .unit = std::string(40, 'm')}}),
            "W: variable 'x': found a unit of 40 bytes; expected at most 31 printable ASCII characters");
  EXPECT_EQ(refusal({{.name = "x", .shape = {1}, .unit = "m\t"}}),
            "W: variable 'x': found the unit 'm\\t'; expected at most 31 printable ASCII characters");
}

TEST(SchemaTest, WrongShapesAreRefused) {
  EXPECT_EQ(refusal({f64("x", std::vector<std::uint64_t>(9, 1))}),
            "W: variable 'x': found 9 dimensions; expected 0 to 8");
  EXPECT_EQ(refusal({f64("x", std::vector<std::uint64_t>(8, 2))}), "");
  EXPECT_EQ(refusal({f64("x", {100, 0})}), "W: variable 'x': shape (100, 0): dimension 1 is 0; expected at least 1");
  EXPECT_EQ(
      refusal({f64("x", {4294967296, 4294967296})}),
      "W: variable 'x': shape (4294967296, 4294967296) of f64 has more than 17167289216 bytes; expected a step of "
      "at most 17167289216 bytes in all");
  EXPECT_NE(refusal({f64("x", {std::uint64_t{1} << 61})}), "") << "its bytes overflow";
  EXPECT_NE(refusal({f64("x", {kMostPayloadBytes / 8 + 1})}), "");
  EXPECT_EQ(refusal({f64("x", {kMostPayloadBytes / 8})}), "");
}

TEST(SchemaTest, SeveralNodesMayHaveMoreThanARingTakes) {
  const auto bytes_of_whole = [](std::uint64_t entries, int variables) {
    std::vector<Variable> made;
    for (int v = 0; v < variables; ++v) made.push_back(f64("v" + std::to_string(v), {entries}));
    return Schema::of_whole(made).payload_bytes();
  };
  EXPECT_EQ(bytes_of_whole(kMostWholeBytes / 8, 1), kMostWholeBytes);
  EXPECT_THROW(bytes_of_whole(kMostWholeBytes / 8 + 1, 1), Error);
  EXPECT_THROW(bytes_of_whole(kMostWholeBytes / 8, 256), Error) << "the sum of all, without an overflow";
}

TEST(SchemaTest, AStepThatIsTooLargeNamesItsLargestVariable) {
  EXPECT_EQ(refusal({f64("a", {250'000'000}), f64("x", {2'000'000'000}), f64("b", {250'000'000})}),
            "W: the 3 variables have 20000003072 bytes together (the largest is 'x' with 16000000000); expected at "
            "most 17167289216 bytes for a step");
}

TEST(SchemaTest, TheTextOfManyVariablesIsShort) {
  std::vector<Variable> variables;
  for (int i = 0; i < 8; ++i) variables.push_back(f64("v" + std::to_string(i), {1}));
  const std::string first_seven = "v0 f64[1], v1 f64[1], v2 f64[1], v3 f64[1], v4 f64[1], v5 f64[1], v6 f64[1], ";
  EXPECT_EQ(to_text(Schema::of(variables)), first_seven + "v7 f64[1]");
  for (int i = 8; i < 256; ++i) variables.push_back(f64("v" + std::to_string(i), {1}));
  EXPECT_EQ(to_text(Schema::of(variables)), first_seven + "and 249 more");
  EXPECT_EQ(difference(Schema::of({variables[0]}), Schema::of(variables)),
            "v1 f64[1] more, v2 f64[1] more, v3 f64[1] more, v4 f64[1] more, v5 f64[1] more, v6 f64[1] more, v7 "
            "f64[1] more, and 248 more");
}

TEST(SchemaTest, ADifferenceNamesTheVariables) {
  const Schema kept = Schema::of({f64("x", {8}), f64("p", {8})});
  EXPECT_EQ(difference(kept, kept), "");
  EXPECT_EQ(difference(kept, Schema::of({{.name = "x", .dtype = DType::kF32, .shape = {8}}, f64("p", {8})})),
            "x f32[8] instead of x f64[8]");
  EXPECT_EQ(difference(kept, Schema::x_only(8)), "no p f64[8]");
  EXPECT_EQ(difference(Schema::x_only(8), kept), "p f64[8] more");
}

}  // namespace
}  // namespace ringside
