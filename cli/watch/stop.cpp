// SPDX-License-Identifier: BSD-3-Clause
// ringside stop: ends the run that an analyzer serves; a service continues.
#include <fmt/format.h>

#include "cli/subcommands.hpp"
#include "cli/watch/service.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/telemetry/record_stream.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr int kPatienceMs = 5000;

}  // namespace

int stop_command(int argc, const char* const* argv) {
  ServiceOptions service;
  CommandLine line(
      "Ends the run that an analyzer serves: published steps are committed, and the producer ends with exit code 130.",
      "ringside stop");
  declare(line, service);
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  const FoundService found = find_service(service, "end a `ringside run` by Ctrl-C");
  ChannelContext context;
  RecordStream stream(context, found.address, RecordStream::kNoRecords);
  switch (stream.stop(kPatienceMs)) {
    case StopAnswer::kStopping: break;
    case StopAnswer::kRefused:
      throw usage_error("the analyzer at '{}' serves no run: there is nothing to stop", found.name);
    case StopAnswer::kNone:
      throw peer_error("the analyzer at '{}' does not answer; is it alive, and was it started with --telemetry on?",
                       found.name);
  }
  fmt::print("{}: the run ends\n", printable(found.name));
  return 0;
}

}  // namespace ringside
