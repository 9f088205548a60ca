// SPDX-License-Identifier: BSD-3-Clause
// Uses the parts of ringside.hpp that the examples do not use: several variables of several types, scalars, puts,
// copies, runs, the journal. A test runs this program twice below `ringside run`, first as `face write`, then as `face
// resume` with --resume, and then alone as `face read POOL`. If an expectation is not met, the program prints the first
// such one and ends with exit code 1.
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ringside.hpp>

namespace {

constexpr std::size_t kEntries = 15;
using Complex = std::complex<float>;

void expect(bool met, const char* what) {
  if (met) return;
  std::printf("not met: %s\n", what);
  std::exit(1);
}

/// Expects that the call throws an Error with this status and reason.
template <class Call>
void expect_error(const Call& call, ringside_status status, std::uint32_t reason, const char* what) {
  try {
    call();
  } catch (const ringside::Error& error) {
    expect(error.status() == status && error.reason() == reason && std::strlen(error.what()) > 0, what);
    return;
  }
  expect(false, what);
}

template <class Call>
void expect_refused(const Call& call, const char* what) {
  expect_error(call, RINGSIDE_USAGE, RINGSIDE_REASON_ARGUMENT, what);
}

/// x of step k.
std::vector<double> x_of(std::uint64_t k) {
  std::vector<double> x(kEntries);
  for (std::size_t i = 0; i < kEntries; ++i) x[i] = static_cast<double>(k) + 0.01 * static_cast<double>(i);
  return x;
}
std::vector<Complex> z_of(std::uint64_t k) {
  return std::vector<Complex>(4, {static_cast<float>(k), -1});
}
std::int64_t sweeps_of(std::uint64_t k) {
  return static_cast<std::int64_t>(7 * k);
}

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

const std::vector<ringside::Variable> kVariables = {ringside::field<double>("x", {3, 5}, "K"),
                                                    ringside::state<Complex>("z", {4})};
const std::vector<ringside::Scalar> kScalars = {{.name = "rho"}, {.name = "sweeps", .type = RINGSIDE_VALUE_I64}};

void write_steps(std::uint64_t first, std::uint64_t last) {
  expect_error([] { ringside::Writer({.socket = "nowhere", .peer_timeout_s = 0.01}, kVariables); }, RINGSIDE_PEER_LOST,
               0, "an attachment without an analyzer fails");
  expect_refused([] { ringside::Writer({.buffers = 1000}, kVariables); }, "too many buffers are refused");

  for (const char* what : {"name", "unit", "solver", "socket"}) {
    const auto text = [&](const char* of) { return std::string(of == std::string_view(what) ? "a\0b" : "abc", 3); };
    expect_refused(
        [&] {
          ringside::Writer({.solver = text("solver"), .socket = text("socket"), .peer_timeout_s = 0.01},
                           {ringside::field<double>(text("name"), {3}, text("unit"))});
        },
        "a NUL byte in a text is refused");
  }

  ringside::Writer other({.solver = "face", .problem = "a plate", .work = kEntries, .shares_core = true}, kVariables,
                         kScalars);
  ringside::Writer run = std::move(other);
  expect(run.next_iteration() == first, "the run continues after the newest step");
  expect(same(run.kept<double>(0), first > 1 ? x_of(first - 1) : std::vector<double>{}), "x is kept");
  const std::optional<ringside_value> kept = run.kept_scalar(1);
  expect(kept.has_value() == (first > 1), "a scalar is kept");
  expect(!kept || kept->i64 == sweeps_of(first - 1), "its value");
  const ringside_run described = run.run();
  expect(described.work == kEntries && std::string_view(described.problem) == "a plate", "the run is described");
  expect_refused([&] { run.buffer<double>(0); }, "no step is claimed");

  for (std::uint64_t k = first; k <= last; ++k) {
    const std::vector<double> x = x_of(k);
    const std::vector<Complex> z = z_of(k);
    const auto scalars = {ringside::value(1.0 / static_cast<double>(k)), ringside::value(sweeps_of(k))};
    if (k % 2 == 0) {
      expect(run.put(k, {x, z}, scalars), "a step is put");
      continue;
    }
    expect(run.claim_at_once() || run.claim(), "a step is claimed");
    expect(run.previous<double>(0).empty() == (k == 1), "the step before is there");
    if (k > 1) expect(same(run.previous<double>(0), x_of(k - 1)), "its entries");
    std::copy(x.begin(), x.end(), run.buffer<double>(0).begin());
    std::copy(z.begin(), z.end(), run.buffer<Complex>(1).begin());
    expect_refused([&] { run.buffer<float>(0); }, "another type is refused");
    expect_refused([&] { run.publish_timed(k, -1); }, "a time is not negative");
    run.publish_timed(k, 12'345, scalars);
  }

  const std::vector<float> floats(kEntries);
  const std::vector<double> few(kEntries - 1);
  const std::vector<Complex> z(4);
  expect_refused([&] { run.put(last + 1, {floats, z}); }, "another dtype");
  expect_refused([&] { run.put(last + 1, {few, z}); }, "too few entries");
  expect_refused([&] { run.put(last + 1, {x_of(1)}); }, "one array of two");
  run.skip();
  run.detach();
  expect(run.counts().published == last - first + 1 && run.counts().skipped == 1, "what was published is counted");
  expect(run.note().empty(), "the analyzer has nothing to say");
}

void read_steps(const std::string& pool) {
  expect_error([] { ringside::Reader("no such pool"); }, RINGSIDE_USAGE, RINGSIDE_REASON_NO_FILE,
               "there is no such pool");
  expect_refused([&] { ringside::Reader(pool + std::string("\0b", 2)); }, "a NUL byte in a pool's path is refused");
  const ringside::Reader reader(pool);
  expect(reader.variables().size() == 2 && reader.find("z") == 1u && !reader.find("y"), "names");

  std::uint64_t newest = 0;
  while (const std::optional<ringside_step_info> info = reader.next(newest)) {
    newest = info->commit_seq;
    std::optional<ringside::Step> step = reader.hold(newest);
    expect(step.has_value() && step->iteration() == info->iteration, "the step is held");
    expect(same(step->view<double>(0), x_of(info->iteration)), "its entries");
    step->close();
    const std::optional<std::vector<Complex>> z = reader.copied<Complex>(newest, 1);
    expect(z && same(*z, z_of(info->iteration)), "a copy of the complex entries");
    std::array<double, kEntries> x{};
    expect(reader.copy(newest, 0, std::span<double>(x)) && same(x, x_of(info->iteration)), "a copy of x");
    expect(reader.result(newest, "solver.sweeps")->values->i64 == sweeps_of(info->iteration), "a scalar");
    expect(reader.results(newest).size() > 2, "reductions and scalars");
  }
  expect(reader.steps().back().iteration == 6, "the run has ended with the last step");
  std::array<double, 1> small{};
  expect_refused([&] { reader.copy(newest, 0, std::span<double>(small)); }, "a place that is too small is refused");
  expect_refused([&] { reader.copied<float>(newest, 0); }, "another dtype");
  expect(!reader.copied<double>(newest + 1, 0), "a step that is not there yet");

  const std::vector<ringside_run> runs = reader.runs();
  expect(runs.size() == 1 && std::string_view(runs[0].solver) == "face", "a resumed run is the same run");
  std::uint64_t steps = 0, ends = 0, seq = 0;
  while (const std::optional<ringside_record> record = reader.next_record(seq)) {
    seq = record->seq + 1;
    ends += record->kind == RINGSIDE_RECORD_RUN_ENDED ? 1 : 0;
    const std::vector<ringside_result> results = reader.record_results();
    expect(results.empty() == (record->kind != RINGSIDE_RECORD_STEP), "only a step has results");
    if (record->kind != RINGSIDE_RECORD_STEP) continue;
    expect(record->iteration == ++steps, "every step is in the journal");
    expect(record->iteration % 2 == 0 || record->generate_ns == 12'345, "the time that the solver measured");
    expect(std::any_of(results.begin(), results.end(),
                       [](const ringside_result& result) { return std::string_view(result.name) == "x.sum"; }),
           "a reduction by name");
  }
  expect(steps == 6 && ends == 2, "both parts of the run");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "write") write_steps(1, 4);
  if (word == "resume") write_steps(5, 6);
  if (word == "read" && argc > 2) read_steps(argv[2]);
}
