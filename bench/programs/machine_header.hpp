// SPDX-License-Identifier: BSD-3-Clause
// The header of every benchmark's JSON: the machine, system, compiler and commit to which the figures belong, and the
// load of the machine when the benchmark began.
#pragma once

#include <string>
#include <vector>

#include "common/json/json.hpp"

namespace ringside::bench {

/// {cpu, cores_online, cores_allowed, governor, kernel, compiler, flags, commit, isa, load_average, started}. A value
/// that cannot be determined is "n/a".
Json machine_header();

/// {unit, median, min, max, p25, p75, repeats} of the samples, which are sorted.
Json spread(std::vector<double> samples, const std::string& unit);

/// The median of the samples; if their number is even, the lower one of the two values in the middle.
double median(std::vector<double> samples);

/// Binds the calling thread to one core. Throws `Error` (exit code 3) if this process may not use this core.
void pin_to_core(int core);

/// Makes OpenMP use `threads` threads, thread t on the t-th core that this process may use. Throws `Error` (exit code
/// 2) if there are fewer cores.
void pin_threads(int threads);

/// Several processes share the work. Binds this process, which has the number `process` (from 0), to one core, and
/// limits it to one thread. Throws `Error` in the same cases as pin_threads.
void pin_process(int process, int processes);

/// The lowest core that this process may use.
int first_allowed_core();

/// Writes `document` to `path`, or to standard output if `path` is empty or `-`. Throws `Error` (exit code 3).
void write_json(const Json& document, const std::string& path);

}  // namespace ringside::bench
