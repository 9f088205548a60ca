// SPDX-License-Identifier: BSD-3-Clause
// Reductions whose results show which entries they received, in which order, and with which previous step.
#include <cstddef>
#include <cstdint>

#include "include/ringside_reduction.h"

namespace {

template <class T>
T& as(void* state) {
  return *static_cast<T*>(state);
}
template <class T>
const T& as(const void* state) {
  return *static_cast<const T*>(state);
}

// ---- order: a sum whose result depends on the order in which the blocks are merged.

void zero_double(void*, void* state) {
  as<double>(state) = 0;
}
void add_values(void*, void* state, const ringside_reduction_block* block) {
  const auto* const x = static_cast<const double*>(block->values);
  for (std::size_t i = 0; i < block->count; ++i) as<double>(state) += x[i];
}
void halve_and_add(void*, void* state, const void* other) {
  as<double>(state) = as<double>(state) / 2 + as<double>(other);
}
std::uint64_t finish_double(void*, const void* state, ringside_value* const* values) {
  values[0][0].f64 = as<double>(state);
  return 0;
}
const ringside_reduction_result f64_result[] = {
    {.name = nullptr, .unit = nullptr, .type = RINGSIDE_VALUE_F64, .count = 0, .classes = 0, .flags = 0}};

// ---- seen: the number of entries, the number of blocks, and the sum of the indices. The entries are not converted to
// doubles, and the states may be merged in any order.

struct Seen {
  std::int64_t entries;
  std::int64_t blocks;
  std::int64_t index_sum;
};
void zero_seen(void*, void* state) {
  as<Seen>(state) = {};
}
void see(void*, void* state, const ringside_reduction_block* block) {
  Seen& seen = as<Seen>(state);
  seen.entries += static_cast<std::int64_t>(block->count);
  ++seen.blocks;
  for (std::size_t i = 0; i < block->count; ++i) seen.index_sum += static_cast<std::int64_t>(block->first_index + i);
}
void add_seen(void*, void* state, const void* other) {
  Seen& seen = as<Seen>(state);
  seen.entries += as<Seen>(other).entries;
  seen.blocks += as<Seen>(other).blocks;
  seen.index_sum += as<Seen>(other).index_sum;
}
std::uint64_t finish_seen(void*, const void* state, ringside_value* const* values) {
  values[0][0].i64 = as<Seen>(state).entries;
  values[1][0].i64 = as<Seen>(state).blocks;
  values[1][1].i64 = as<Seen>(state).index_sum;
  return 0;
}
const ringside_reduction_result seen_results[] = {
    {.name = "entries", .unit = "1", .type = RINGSIDE_VALUE_I64, .count = 1, .classes = 0, .flags = 0},
    {.name = "both", .unit = "1", .type = RINGSIDE_VALUE_I64, .count = 2, .classes = 0, .flags = 0}};

// ---- moved: the number of entries that differ from the previous step; absent if there are none.

void zero_count(void*, void* state) {
  as<std::int64_t>(state) = 0;
}
void count_moved(void*, void* state, const ringside_reduction_block* block) {
  const auto* const x = static_cast<const double*>(block->values);
  const auto* const before = static_cast<const double*>(block->previous);
  for (std::size_t i = 0; i < block->count; ++i) as<std::int64_t>(state) += x[i] != before[i];
}
void add_count(void*, void* state, const void* other) {
  as<std::int64_t>(state) += as<std::int64_t>(other);
}
std::uint64_t finish_count(void*, const void* state, ringside_value* const* values) {
  values[0][0].i64 = as<std::int64_t>(state);
  return values[0][0].i64 == 0 ? 1 : 0;
}
const ringside_reduction_result i64_result[] = {
    {.name = nullptr, .unit = "1", .type = RINGSIDE_VALUE_I64, .count = 0, .classes = 0, .flags = 0}};

// ---- outside: writes one byte after the end of its state.

void write_outside(void*, void* state, const ringside_reduction_block*) {
  static_cast<volatile char*>(state)[sizeof(std::int64_t)] = 1;
}

ringside_reduction reduction(const char* name, std::uint32_t flags, const ringside_reduction_result* results,
                             std::uint32_t result_count, std::size_t state_bytes, decltype(ringside_reduction::init) init,
                             decltype(ringside_reduction::block) block, decltype(ringside_reduction::merge) merge,
                             decltype(ringside_reduction::finish) finish) {
  ringside_reduction made{};
  made.abi = RINGSIDE_REDUCTION_ABI;
  made.size = sizeof made;
  made.name = name;
  made.classes = RINGSIDE_CLASS_ANY;
  made.flags = flags;
  made.result_size = sizeof *results;
  made.result_count = result_count;
  made.results = results;
  made.state_bytes = state_bytes;
  made.init = init;
  made.block = block;
  made.merge = merge;
  made.finish = finish;
  return made;
}

const ringside_reduction order =
    reduction("order", 0, f64_result, 1, sizeof(double), zero_double, add_values, halve_and_add, finish_double);
const ringside_reduction seen =
    reduction("seen", RINGSIDE_REDUCTION_RAW | RINGSIDE_REDUCTION_ANY_ORDER, seen_results, 2, sizeof(Seen), zero_seen,
              see, add_seen, finish_seen);
const ringside_reduction moved = reduction("moved", RINGSIDE_REDUCTION_NEEDS_PREVIOUS, i64_result, 1,
                                           sizeof(std::int64_t), zero_count, count_moved, add_count, finish_count);
const ringside_reduction outside = reduction("outside", 0, i64_result, 1, sizeof(std::int64_t), zero_count,
                                             write_outside, add_count, finish_count);

}  // namespace

RINGSIDE_REDUCTIONS(&order, &seen, &moved, &outside);
