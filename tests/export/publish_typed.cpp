// SPDX-License-Identifier: BSD-3-Clause
// Publishes steps for the tests of `ringside export`, below `ringside run`:
//   publish_typed typed N      variables of every dtype, with zero to four dimensions; arbitrary bits, also NaN
//   publish_typed large N M    one field of M million bytes
//   publish_typed steps N      one small field, for a journal with many records
//   publish_typed endless      one field, step after step, until it is interrupted
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <ringside.hpp>

namespace {

/// splitmix64: arbitrary bits, which depend only on the step and the variable.
void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    std::memcpy(bytes.data() + at, &z, std::min(sizeof z, bytes.size() - at));
  }
}

template <class T>
void fill(ringside::Writer& run, std::uint32_t variable, std::uint64_t k) {
  fill(std::as_writable_bytes(std::span(run.buffer<T>(variable))), 1000 * k + variable);
}

/// Fills the variables, beginning with the first one; `Types` has their types.
template <class... Types>
void fill_all(ringside::Writer& run, std::uint64_t k) {
  std::uint32_t variable = 0;
  (fill<Types>(run, variable++, k), ...);
}

void publish_typed(std::uint64_t steps) {
  ringside::Writer run({.solver = "typed"},
                       {ringside::field<double>("u", {6, 5, 4}, "m s-1"), ringside::field<float>("f32", {6, 5, 4}),
                        ringside::field<std::complex<float>>("c64", {6, 5, 4}),
                        ringside::state<std::complex<double>>("c128", {7}), ringside::field<std::int8_t>("i8", {6, 5}),
                        ringside::field<std::int16_t>("i16", {9}), ringside::field<std::int32_t>("i32", {9}, "<&\">"),
                        ringside::field<std::int64_t>("i64", {9}), ringside::field<std::uint8_t>("u8", {2, 3, 2, 3}),
                        ringside::field<std::uint16_t>("u16", {9}), ringside::field<std::uint32_t>("u32", {9}),
                        ringside::field<std::uint64_t>("u64", {9}), ringside::field<double>("alpha", {}),
                        ringside::state<double>("iteration", {3}), ringside::state<double>("results", {3})},
                       {{.name = "rho"}, {.name = "sweeps", .type = RINGSIDE_VALUE_I64}});
  for (std::uint64_t k = run.next_iteration(); k <= steps && run.claim(); ++k) {
    fill_all<double, float, std::complex<float>, std::complex<double>, std::int8_t, std::int16_t, std::int32_t,
             std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, double, double, double>(run, k);
    run.publish(k, {ringside::value(1.0 / static_cast<double>(k)), ringside::value(static_cast<std::int64_t>(7 * k))});
  }
  run.detach();
}

void publish_field(std::uint64_t steps, const std::vector<std::uint64_t>& shape) {
  ringside::Writer run({.solver = "field"}, {ringside::field<double>("x", shape)});
  for (std::uint64_t k = run.next_iteration(); k <= steps && run.claim(); ++k) {
    fill<double>(run, 0, k);
    run.publish(k);
  }
  run.detach();
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "typed";
  const std::uint64_t steps = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : UINT64_MAX;
  if (what == "typed") publish_typed(steps);
  if (what == "large") publish_field(steps, {125 * std::strtoull(argc > 3 ? argv[3] : "1", nullptr, 10), 1000});
  if (what == "steps") publish_field(steps, {2});
  if (what == "endless") publish_field(UINT64_MAX, {250, 1000});
  return 0;
} catch (const ringside::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}
