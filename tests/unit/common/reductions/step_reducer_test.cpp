// SPDX-License-Identifier: BSD-3-Clause
// All fields of a step together: each field must have the same words as if it were alone, no matter which thread copies
// which chunk.
#include "common/reductions/step_reducer.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

#include "common/kernels/hash.hpp"
#include "common/reductions/reduction_words.hpp"
#include "tests/unit/common/reductions/field_cases.hpp"

namespace ringside {
namespace {

/// Fields of every dtype, twice, with states between them, so that the presence bits fill several words.
Schema many_variables(std::size_t entries) {
  std::vector<Variable> variables;
  for (const char* prefix : {"a_", "b_"}) {
    for (const DType dtype : every_dtype()) {
      const std::string name = prefix + std::string(to_string(dtype));
      variables.push_back({.name = name, .dtype = dtype, .shape = {entries + variables.size()}});
      if (variables.size() % 5 == 0) {
        variables.push_back({.name = name + ".state", .dtype = dtype, .shape = {entries}, .role = Role::kState});
      }
    }
  }
  return Schema::of(variables);
}

/// A payload with one of the field cases in each variable.
struct Step {
  Step(const Schema& schema, std::size_t kind) : payload(schema.payload_bytes() / sizeof(CacheLine) + 1) {
    for (std::size_t v = 0; v < schema.size(); ++v) {
      const auto cases = field_cases(schema.variables()[v].dtype, schema.place(v).entries);
      const FieldCase& c = cases[(kind + v) % cases.size()];
      std::memcpy(reinterpret_cast<std::byte*>(payload.data()) + schema.place(v).offset, c.bytes(), c.stored_bytes());
    }
  }
  const std::byte* bytes() const { return payload.data()->bytes; }
  std::byte* bytes() { return payload.data()->bytes; }

  std::vector<CacheLine> payload;
};

std::vector<std::uint64_t> to_vector(std::span<const std::uint64_t> words) {
  return {words.begin(), words.end()};
}

/// The words of the variable when it is alone in a schema, including the word of presence bits, which comes first.
std::vector<std::uint64_t> words_alone(const Schema& schema, std::size_t v, const void* payload, const void* previous) {
  const auto at = [&](const void* base) -> const void* {
    return base != nullptr ? static_cast<const std::byte*>(base) + schema.place(v).offset : nullptr;
  };
  StepReducer alone(Schema::of({schema.variables()[v]}));
  return to_vector(alone.reduce(at(payload), at(previous), 1));
}

void expect_each_field_as_alone(const StepReducer& reducer, std::span<const std::uint64_t> words, const void* payload,
                                const void* previous) {
  const Schema& schema = reducer.schema();
  for (std::size_t v = 0; v < schema.size(); ++v) {
    if (!reducer.reduces(v)) continue;
    const std::vector<std::uint64_t> alone = words_alone(schema, v, payload, previous);
    std::uint64_t bit = 0;
    std::uint64_t word = 1;
    for (const Result& result : reducer.catalogue().results()) {
      if (result.variable != v) continue;
      EXPECT_EQ(ResultValues(words).present(result), (alone[0] >> bit++ & 1) != 0) << result.full_name;
      for (std::uint64_t i = 0; i < result.count * words_of(result.type); ++i) {
        EXPECT_EQ(words[result.word + i], alone[word++]) << result.full_name << ", word " << i;
      }
    }
    EXPECT_EQ(word, alone.size());
    if (::testing::Test::HasFailure()) return;
  }
}

struct Chunk {
  std::size_t variable;
  std::uint64_t first_byte;
  std::size_t bytes;
};

std::vector<Chunk> chunks_of(const Schema& schema) {
  std::vector<Chunk> chunks;
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const std::uint64_t stored = schema.place(v).stored_bytes;
    for (std::uint64_t begin = 0; begin < stored; begin += StepReducer::kMostBytes) {
      chunks.push_back({v, begin, std::min<std::size_t>(StepReducer::kMostBytes, stored - begin)});
    }
  }
  return chunks;
}

/// Copies the chunk, and passes it to the reducer, in one of three ways.
void pass(StepReducer& reducer, std::size_t thread, const Chunk& chunk, const std::byte* from, std::byte* to,
          unsigned way) {
  const std::uint64_t offset = reducer.schema().place(chunk.variable).offset + chunk.first_byte;
  if (way == 0 && reducer.reduces(chunk.variable)) {
    const std::uint64_t hash =
        reducer.copy_nontemporal(thread, chunk.variable, to + offset, from + offset, chunk.first_byte, chunk.bytes);
    EXPECT_EQ(hash, hash64(from + offset, chunk.bytes));
  } else if (way == 1 && reducer.reduces(chunk.variable)) {
    const StagedBytes staged = reducer.stage(thread, chunk.variable, from + offset, chunk.first_byte, chunk.bytes);
    EXPECT_EQ(staged.hash, hash64(from + offset, chunk.bytes));
    std::memcpy(to + offset, staged.bytes, chunk.bytes);
  } else {
    std::memcpy(to + offset, from + offset, chunk.bytes);
    if (reducer.reduces(chunk.variable)) {
      reducer.sweep(thread, chunk.variable, to, chunk.first_byte, chunk.bytes);
    }
  }
}

TEST(StepReducer, EachFieldHasTheWordsThatItHasAlone) {
  const Schema schema = many_variables(2000);
  for (std::size_t kind = 0; kind < 5; ++kind) {  // each field has each kind of case once
    const Step step(schema, kind);
    const Step previous(schema, kind + 1);
    const int threads = 1 + static_cast<int>(kind % 4);
    omp_set_num_threads(threads);
    StepReducer reducer(schema);
    omp_set_num_threads(1);  // because there are many reducers of single fields
    ASSERT_EQ(reducer.threads(), static_cast<std::size_t>(threads));
    expect_each_field_as_alone(reducer, reducer.reduce(step.bytes(), previous.bytes(), 1), step.bytes(),
                               previous.bytes());
    expect_each_field_as_alone(reducer, reducer.reduce(previous.bytes(), nullptr, 3), previous.bytes(), nullptr);
    expect_each_field_as_alone(reducer, reducer.reduce(step.bytes(), previous.bytes(), 3), step.bytes(),
                               previous.bytes());
    omp_set_num_threads(omp_get_num_procs());
  }
}

TEST(StepReducer, AnyThreadMayCopyAnyChunkOfAnyFieldInAnyOrder) {
  const Schema schema = many_variables(5000);
  omp_set_num_threads(3);
  StepReducer reducer(schema);
  omp_set_num_threads(omp_get_num_procs());
  std::mt19937_64 generator(1);
  std::vector<Chunk> chunks = chunks_of(schema);
  for (std::size_t round = 0; round < 6; ++round) {
    const Step step(schema, round);  // each field has each kind of case at least once
    const Step previous(schema, round + 2);
    const void* const before = round % 3 == 2 ? nullptr : previous.bytes();
    const std::vector<std::uint64_t> expected = to_vector(StepReducer(schema).reduce(step.bytes(), before, 1));
    Step slot(schema, 4);
    reducer.begin(before);
    for (const Chunk& chunk : chunks) {
      pass(reducer, generator() % 3, chunk, step.bytes(), slot.bytes(), static_cast<unsigned>(generator() % 3));
    }
    EXPECT_EQ(to_vector(reducer.finish(slot.bytes(), round % 2 == 0 ? 1 : 3)), expected) << "round " << round;
    for (std::size_t v = 0; v < schema.size(); ++v) {
      const VariablePlace& place = schema.place(v);
      EXPECT_EQ(std::memcmp(slot.bytes() + place.offset, step.bytes() + place.offset, place.stored_bytes), 0);
    }
    std::shuffle(chunks.begin(), chunks.end(), generator);
  }
}

TEST(StepReducer, OneFieldOfF64HasTheBitsOfItsReducer) {
  omp_set_num_threads(1);  // because there are many short jobs
  for (const Case& c : finite_cases()) {
    const std::size_t entries = c.x.size();
    const Reductions expected = Reducer(entries).reduce(c.x.data(), c.before(), 1);
    StepReducer reducer(Schema::x_only(entries));
    EXPECT_TRUE(bit_equal(to_reductions(reducer.reduce(c.x.data(), c.before(), 2), entries), expected)) << c.name;
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEST(StepReducer, AFieldOfEveryDTypeHasEachValueWhereTheCatalogueSays) {
  for (const DType dtype : every_dtype()) {
    for (const FieldCase& c : field_cases(dtype, 5000)) {
      SCOPED_TRACE(c.name);
      StepReducer reducer(Schema::of({{.name = "x", .dtype = dtype, .shape = {c.entries}}}));
      expect_equal_to_oracle({dtype, reducer.reduce(c.bytes(), c.previous_bytes(), 1)}, c);
      if (HasFailure()) return;
    }
  }
}

TEST(StepReducer, FewEntriesLeaveTopRowsUnfilled) {
  StepReducer reducer(
      Schema::of({{.name = "c", .dtype = DType::kC64, .shape = {2}}, {.name = "n", .dtype = DType::kU8}}));
  Step step(reducer.schema(), 2);
  const ResultValues values(reducer.reduce(step.bytes(), nullptr, 1));
  const auto row = [&](const char* name, std::uint32_t i) { return values.i64(*reducer.catalogue().find(name), i); };
  EXPECT_EQ(row("n.top_row", 0), 0);
  for (std::uint32_t i = 1; i < kTopEntries; ++i) EXPECT_EQ(row("n.top_row", i), -1);
  EXPECT_NE(row("c.top_row", 1), -1);
  for (std::uint32_t i = 2; i < kTopEntries; ++i) EXPECT_EQ(row("c.top_row", i), -1);
}

TEST(StepReducer, AStepOfStatesHasNoWords) {
  StepReducer reducer(Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {2000}, .role = Role::kState}}));
  const Step step(reducer.schema(), 0);
  EXPECT_FALSE(reducer.reduces(0));
  EXPECT_TRUE(reducer.reduce(step.bytes(), step.bytes(), 2).empty());
}

}  // namespace
}  // namespace ringside
