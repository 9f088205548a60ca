// SPDX-License-Identifier: BSD-3-Clause
// The bytes of an attach request with variables and scalars: decoding returns the encoded content, and bytes that no
// real producer sends are refused with one line each (docs/publish/variables.md, section 9).
#include "common/handoff/attach_request.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

constexpr const char* kNameRule = "expected 1 to 63 of A-Z a-z 0-9 _ . -, beginning with a letter or _";

RunDescription described_run() {
  RunDescription run;
  run.run_id = {1, 2};
  run.problem_id = {3, 4};
  run.nonzeros = 50;
  assign(run.solver, "own");
  assign(run.matrix, "m.mtx");
  assign(run.parameters, "omega=1.5");
  return run;
}

AttachRequest request_with(const std::vector<Variable>& variables, const std::vector<Scalar>& scalars) {
  AttachRequest request(described_run(), Schema::of(variables), scalars);
  request.head.buffers = 3;
  return request;
}

AttachRequest small_request() {
  return request_with({{.name = "x", .shape = {100}}, {.name = "p", .shape = {100}, .role = Role::kState}},
                      {{.name = "rho", .unit = "m2"}, {.name = "inner", .type = ValueType::kI64}});
}

void expect_unchanged(const AttachRequest& sent) {
  const AttachRequest received = AttachRequest::decode(sent.encode(), 2);
  EXPECT_EQ(std::memcmp(&received.head, &sent.head, sizeof sent.head), 0);
  EXPECT_EQ(received.schema, sent.schema);
  EXPECT_EQ(received.scalars, sent.scalars);
  EXPECT_EQ(received.encode(), sent.encode());
}

TEST(AttachRequestTest, OneVariableWithoutScalarsComesBack) {
  const AttachRequest request = request_with({{.name = "x", .shape = {100}}}, {});
  EXPECT_EQ(request.encode().size(), 2096u + 168u);
  expect_unchanged(request);
}

TEST(AttachRequestTest, VariablesOfEveryKindComeBack) {
  expect_unchanged(small_request());
  std::vector<Variable> variables;
  for (std::uint16_t number = 1; is_dtype(number); ++number) {
    variables.push_back({.name = "v" + std::to_string(number),
                         .dtype = DType{number},
                         .shape = std::vector<std::uint64_t>(number % 9, number),
                         .role = number % 2 == 0 ? Role::kState : Role::kField,
                         .unit = std::string(number, 'm')});
  }
  expect_unchanged(request_with(variables, {{.name = "rho"}}));
}

TEST(AttachRequestTest, TheLargestRequestComesBack) {
  std::vector<Variable> variables;
  for (int v = 0; v < 256; ++v) variables.push_back({.name = "v" + std::to_string(v), .shape = {7}});
  std::vector<Scalar> scalars;
  for (int s = 0; s < 64; ++s) scalars.push_back({.name = "s" + std::to_string(s)});
  const AttachRequest request = request_with(variables, scalars);
  EXPECT_EQ(request.encode().size(), 53'296u);
  EXPECT_EQ(request.encode().size(), kMostRequestBytes);
  expect_unchanged(request);
}

TEST(AttachRequestTest, TheRunIsThatOfItsVariables) {
  const AttachRequest request = request_with({{.name = "u", .shape = {6, 7}}, {.name = "x", .shape = {100}}}, {});
  const RunDescription& run = request.head.run;
  EXPECT_EQ(run.entries, 42u);
  EXPECT_EQ(run.schema_id, request.schema.id());
  EXPECT_EQ(run.problem_id, problem_id_with({3, 4}, request.schema));
  EXPECT_NE(run.problem_id, small_request().head.run.problem_id) << "other variables are another problem";
  EXPECT_EQ(run.run_id, (Id128{1, 2}));
  EXPECT_EQ(text_of(run.parameters), "omega=1.5");
}

TEST(AttachRequestTest, ScalarsThatNoSolverMayPublishAreRefusedWhereTheRequestIsMade) {
  const auto refusal = [](const std::vector<Scalar>& scalars) {
    return failure_line([&] { request_with({{.name = "x", .shape = {1}}}, scalars); });
  };
  EXPECT_EQ(refusal(std::vector<Scalar>(70)), "scalars: found 70 scalars, expected at most 64");
  EXPECT_EQ(refusal({{.name = "a"}, {.name = ""}}), std::string("scalars: scalar 1 has no name; ") + kNameRule);
  EXPECT_EQ(refusal({{.name = std::string(70, 'a')}}),
            std::string("scalars: scalar 0: found a name of 70 bytes ('aaaaaaaaaaaaaaaa...'); ") + kNameRule);
  EXPECT_EQ(refusal({{.name = "1x"}}), std::string("scalars: scalar 0: the name '1x' has '1' at byte 0; ") + kNameRule);
  EXPECT_EQ(refusal({{.name = "a"}, {.name = "a"}}),
            "scalars: two results are named 'solver.a'; expected each name once");
  EXPECT_EQ(refusal({{.name = "a", .type = ValueType::kI128}}),
            "scalars: scalar 'a': type 3; expected 1 (f64) or 2 (i64)");
  EXPECT_EQ(refusal({{.name = "a", .unit = std::string(40, 'm')}}),
            "scalars: scalar 'a': found a unit of 40 bytes; expected at most 31 printable ASCII characters");
}

/// The parts of the message of small_request, which a test changes as a hostile producer would.
struct Parts {
  AttachRequestHead& head;
  VariableDescription* variables;
  ResultDescription* scalars;
};

/// The line with which small_request is refused after `change`; "" if it is accepted.
std::string refusal(const std::function<void(Parts)>& change, std::size_t descriptors = 2) {
  const AttachRequest request = small_request();
  AttachRequestHead head = request.head;
  std::vector<VariableDescription> variables = request.schema.encode();
  std::vector<ResultDescription> scalars;
  for (const Scalar& scalar : request.scalars) scalars.push_back(description_of(scalar));
  change({head, variables.data(), scalars.data()});
  std::vector<std::byte> message;
  for (const auto part :
       {std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(variables)), std::as_bytes(std::span(scalars))}) {
    message.insert(message.end(), part.begin(), part.end());
  }
  return failure_line([&] { AttachRequest::decode(message, descriptors); });
}

/// What the line says after "attach request: ".
std::string fault(const std::function<void(Parts)>& change) {
  return between("attach request: ", refusal(change), "");
}

TEST(AttachRequestTest, AnUnchangedRequestIsAccepted) {
  EXPECT_EQ(refusal([](Parts) {}), "");
}

TEST(AttachRequestTest, AWrongHeadIsRefused) {
  EXPECT_EQ(refusal([](Parts p) { p.head.header.magic ^= 1; }), "the first message is not an attach request");
  EXPECT_EQ(refusal([](Parts p) { p.head.header.kind = MessageKind::kDetach; }),
            "the first message is not an attach request");
  EXPECT_EQ(refusal([](Parts p) { p.head.header.version = 4; }),
            "the producer uses hand-off version 4, but this analyzer uses version " + std::to_string(kHandoffVersion) +
                "; use the same release for both");
  EXPECT_EQ(refusal([](Parts) {}, 1), "attach request: found 1 file descriptors, expected 2 or 3");
  EXPECT_EQ(refusal([](Parts p) { p.head.pool_use = PoolUse{4}; }),
            "attach request: found pool_use 4, expected 0 to 3");
  EXPECT_EQ(refusal([](Parts p) { p.head.coordination = CoordinationKind{2}; }),
            "attach request: found coordination 2, expected 0 or 1");
  EXPECT_EQ(refusal([](Parts p) { p.head.elastic = 2; }), "attach request: found elastic 2, expected 0 or 1");
}

TEST(AttachRequestTest, ThePoolThatIsAskedForComesBackAndEndsWithinItsField) {
  AttachRequest request = small_request();
  assign(request.head.pool, "/a/heat.pool");
  EXPECT_EQ(text_of(AttachRequest::decode(request.encode(), 2).head.pool), "/a/heat.pool");
  std::memset(request.head.pool, 'x', sizeof request.head.pool);
  EXPECT_EQ(text_of(AttachRequest::decode(request.encode(), 2).head.pool), std::string(1023, 'x'));
}

TEST(AttachRequestTest, TheIterationToContinueFromComesBackAndBelongsToAResumedRun) {
  AttachRequest request = small_request();
  request.head.pool_use = PoolUse::kResume;
  request.head.resume_from = 0x0123'4567'89ab'cdef;
  expect_unchanged(request);
  EXPECT_EQ(AttachRequest::decode(request.encode(), 2).head.resume_from, 0x0123'4567'89ab'cdefu);
  for (const PoolUse other : {PoolUse::kFresh, PoolUse::kOverwrite, PoolUse::kFreshAgain}) {
    const auto change = [other](Parts p) {
      p.head.pool_use = other;
      p.head.resume_from = 92;
    };
    EXPECT_EQ(refusal(change), "attach request: it continues from iteration 92, but pool_use is " +
                                   std::to_string(static_cast<int>(other)) + "; expected 2");
  }
}

TEST(AttachRequestTest, NumbersOfVariablesAndScalarsAreLimited) {
  EXPECT_EQ(fault([](Parts p) { p.head.variables = 0; }), "found 0 variables, expected 1 to 256");
  EXPECT_EQ(fault([](Parts p) { p.head.variables = 10'000; }), "found 10000 variables, expected 1 to 256");
  EXPECT_EQ(fault([](Parts p) { p.head.variables = ~0u; }), "found 4294967295 variables, expected 1 to 256");
  EXPECT_EQ(fault([](Parts p) { p.head.scalars = 70; }), "found 70 scalars, expected at most 64");
  EXPECT_EQ(refusal([](Parts p) { p.head.variables = 256; }),
            "attach request: found 2688 bytes with 256 variables and 2 scalars, expected 45360 bytes");
}

TEST(AttachRequestTest, EveryOtherLengthIsRefused) {
  const std::vector<std::byte> message = small_request().encode();
  ASSERT_EQ(message.size(), 2688u);
  for (std::size_t bytes = 0; bytes < message.size(); ++bytes) {
    EXPECT_NE(failure_line([&] { AttachRequest::decode(std::span(message).first(bytes), 2); }), "") << bytes;
  }
  EXPECT_EQ(failure_line([&] { AttachRequest::decode(std::span(message).first(2200), 2); }),
            "attach request: found 2200 bytes with 2 variables and 2 scalars, expected 2688 bytes");
  std::vector<std::byte> longer = message;
  longer.push_back(std::byte{0});
  EXPECT_EQ(failure_line([&] { AttachRequest::decode(longer, 2); }),
            "attach request: found 2689 bytes with 2 variables and 2 scalars, expected 2688 bytes");
}

TEST(AttachRequestTest, WrongVariablesAndPaddingThatIsNotZeroAreRefused) {
  // SchemaTest and SchemaLayoutTest test all other faults of a variable.
  EXPECT_EQ(fault([](Parts p) { p.variables[1].name[0] = 0; }), std::string("variable 1 has no name; ") + kNameRule);
  EXPECT_EQ(fault([](Parts p) { p.variables[0].dims = 9; }), "variable 0: found 9 dimensions; expected 0 to 8");
  EXPECT_EQ(fault([](Parts p) { p.variables[1].name[5] = 'a'; }), "variable 1: bytes after its name are not 0");
  EXPECT_EQ(fault([](Parts p) { p.scalars[0].name[10] = 'a'; }), "scalar 'rho': bytes after its texts are not 0");
  EXPECT_NE(refusal([](Parts p) { p.scalars[1].reserved[3] = 1; }), "");
}

TEST(AttachRequestTest, WrongScalarsAreRefused) {
  EXPECT_EQ(fault([](Parts p) { p.scalars[1].name[0] = 0; }), std::string("scalar 1 has no name; ") + kNameRule);
  EXPECT_EQ(fault([](Parts p) { p.scalars[0].name[2] = '\n'; }),
            std::string("scalar 0: the name 'rh\\n' has '\\n' at byte 2; ") + kNameRule);
  EXPECT_EQ(fault([](Parts p) { assign(p.scalars[1].name, "rho"); }),
            "two results are named 'solver.rho'; expected each name once");
  EXPECT_EQ(fault([](Parts p) { p.scalars[0].type = ValueType::kI128; }),
            "scalar 'rho': type 3; expected 1 (f64) or 2 (i64)");
  EXPECT_EQ(refusal([](Parts p) { p.scalars[0].type = ValueType{9}; }),
            "attach request: scalar 'rho': type 9; expected 1 (f64) or 2 (i64)");
  EXPECT_EQ(fault([](Parts p) { p.scalars[0].count = 2; }), "scalar 'rho': count 2; expected 1");
  EXPECT_EQ(fault([](Parts p) {
              p.scalars[0].name[1] = '\n';
              p.scalars[0].source = ResultSource::kReduction;
            }),
            "'r\\no' has source 1, expected 2 (scalar)");
}

TEST(AttachRequestTest, ARunDescriptionOfOtherVariablesIsRefused) {
  const std::string line =
      "attach request: the description of the run does not match its variables, x f64[100], p f64[100] state";
  EXPECT_EQ(refusal([](Parts p) { p.head.run.schema_id.low ^= 1; }), line);
  EXPECT_EQ(refusal([](Parts p) { p.head.run.entries = 99; }), line);
  EXPECT_EQ(fault([](Parts p) { assign(p.variables[0].unit, "m"); }),
            "the description of the run does not match its variables, x f64[100] m, p f64[100] state");
}

TEST(AttachRequestTest, TextsOfTheRunEndWithinTheirFields) {
  AttachRequest request = small_request();
  std::memset(request.head.run.solver, 'a', sizeof request.head.run.solver);
  std::memset(request.head.run.matrix, 'b', sizeof request.head.run.matrix);
  std::memset(request.head.run.parameters, 'c', sizeof request.head.run.parameters);
  const RunDescription run = AttachRequest::decode(request.encode(), 2).head.run;
  EXPECT_EQ(text_of(run.solver), std::string(23, 'a'));
  EXPECT_EQ(text_of(run.matrix), std::string(399, 'b'));
  EXPECT_EQ(text_of(run.parameters), std::string(511, 'c'));
}

std::string assigned(std::string_view text) {
  char field[8];
  std::fill(std::begin(field), std::end(field), 'x');
  assign(field, text);
  EXPECT_EQ(field[7], '\0');
  return std::string(text_of(field));
}

TEST(RunDescriptionTest, ATextThatFitsIsKeptAndTheRestIsZero) {
  EXPECT_EQ(assigned(""), "");
  EXPECT_EQ(assigned("seven77"), "seven77");
  char field[8] = {'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
  assign(field, "ab");
  EXPECT_EQ(std::string(field, 8), std::string("ab\0\0\0\0\0\0", 8));
}

TEST(RunDescriptionTest, ATooLongTextLosesItsBeginning) {
  EXPECT_EQ(assigned("folder/a.mtx"), "r/a.mtx");
}

TEST(RunDescriptionTest, NoCharacterIsCutInTwo) {
  EXPECT_EQ(assigned("\u00e9123456"), "123456") << "two bytes, cut after the first";
  EXPECT_EQ(assigned("\u00e912345"), "\u00e912345") << "two bytes that fit";
  EXPECT_EQ(assigned("a\u00e912345"), "\u00e912345") << "cut before the character";
  EXPECT_EQ(assigned("\U0001F6001234"), "1234") << "four bytes, cut after the first";
  EXPECT_EQ(assigned("\U0001F600123456"), "123456") << "four bytes, cut after the third";
}

TEST(RunDescriptionTest, TextThatIsNotUtf8IsNotShortenedFurther) {
  EXPECT_EQ(assigned("\x80\x80\x80\x80\x80\x80\x80\x80"), "\x80\x80\x80\x80") << "no character has more than three";
}

TEST(RunDescriptionTest, AFieldWithoutItsNulIsTakenWhole) {
  const char field[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(text_of(field), "abcd");
}

}  // namespace
}  // namespace ringside
