// SPDX-License-Identifier: BSD-3-Clause
#include "bench/programs/bench_program.hpp"

#include <utility>

#include "common/platform/clock.hpp"
#include "common/program/program.hpp"

namespace ringside::bench {

BenchProgram::BenchProgram(std::string name, const std::string& help)
    : line(help, "bench_" + name), name_(std::move(name)) {}

int BenchProgram::run(int argc, char** argv, const std::function<void(Json& report)>& measure) {
  return run_program([&] {
    std::string output;
    line.option("-o,--output", output, "File for the JSON (default: standard output)").value_name("FILE");
    if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
    Json report = {{"benchmark", name_}, {"machine", machine_header()}};
    measure(report);
    write_json(report, output);
    return 0;
  });
}

double milliseconds_since(std::int64_t begin_ns) {
  return static_cast<double>(now_ns() - begin_ns) * 1e-6;
}

}  // namespace ringside::bench
