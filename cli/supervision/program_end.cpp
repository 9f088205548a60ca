// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/program_end.hpp"

#include <fmt/format.h>

#include <cstring>

#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"

namespace ringside {
namespace {

bool is_storage_lost(ExitCode code) noexcept {
  return code == ExitCode::kSystem || code == ExitCode::kDamaged;
}

/// The exit code of the run for a program that failed after it had attached. If the program's exit status is that of a
/// refusal (2), the run was used wrongly: the example programs end with this status, and so does a program with an
/// uncaught exception of the Python package.
ExitCode code_of_failure(const ProcessEnd& end) noexcept {
  return end.signal == 0 && end.status == static_cast<int>(ExitCode::kUsage) ? ExitCode::kUsage : ExitCode::kPeerLost;
}

/// Judges a PROGRAM that has ended and was never attached.
ProgramVerdict judge_unattached(const ProgramRunEnd& run) {
  if (run.is_attended) return {};  // the program itself received the reason of a refusal
  const std::string end = run.end.in_words();
  if (run.attachment.refusal) {
    return {run.attachment.refusal->code(),
            fmt::format("{} {} after it was refused: {}", run.program, end, run.attachment.refusal->what())};
  }
  if (run.end.status == 0) {
    return {ExitCode::kUsage,
            fmt::format("{} {} and never attached; expected it to publish through libringside (RINGSIDE_SOCKET={})",
                        run.program, end, run.socket)};
  }
  return {ExitCode::kPeerLost, fmt::format("{} {} before it attached; expected it to attach with RINGSIDE_SOCKET={}",
                                           run.program, end, run.socket)};
}

/// "after iteration 17", "before its first iteration".
std::string when(const AttachmentReport& attachment) {
  return attachment.iteration > 0 ? fmt::format("after iteration {}", attachment.iteration)
                                  : std::string("before its first iteration");
}

/// A clause that states how the user can continue; empty if there is no iteration from which to continue.
const char* way_on(const ProgramRunEnd& run) noexcept {
  if (run.attachment.iteration == 0) return "";
  return run.is_attended ? "; if it is started again, it continues" : "; ringside run --resume continues";
}

/// Judges a run whose publishing process ended, or closed its connection, without detaching.
ProgramVerdict judge_lost(const ProgramRunEnd& run) {
  const AttachmentReport& attachment = run.attachment;
  const bool reported = run.publisher_end.status.has_value();
  const std::string end = run.publisher_lives ? "left" : run.publisher_end.in_words();
  if (!attachment.is_counted) {
    return {ExitCode::kPeerLost,
            fmt::format("{}: process {} {}; the number of committed steps is unknown, because the analyzer was killed "
                        "and the pool cannot be read; ringside info {} shows why",
                        run.program, attachment.pid, end, run.pool)};
  }
  return {code_of_failure(run.publisher_end),
          fmt::format("{}: process {} {} {}{}; {} steps are committed{}", run.program, attachment.pid, end,
                      when(attachment), run.publisher_lives || reported ? " without detaching" : "",
                      attachment.committed, way_on(run))};
}

/// Judges a run whose PROGRAM detached and ended with status 0, without being asked to end.
ProgramVerdict judge_outcome(const ProgramRunEnd& run) {
  const AttachmentReport& attachment = run.attachment;
  const auto line = [&](const char* what, const char* more = "") {
    return fmt::format("{} {} {}{}; {} steps are committed{}", run.program, what, when(attachment), more,
                       attachment.committed, way_on(run));
  };
  if (attachment.outcome == "interrupted" && run.is_attended) return {ExitCode::kInterrupted, ""};
  if (attachment.outcome == "interrupted" && run.announced != 0) {
    const std::string after = fmt::format(", after signal {} ({})", run.announced, strsignal(run.announced));
    return {ExitCode::kInterrupted, line("stopped", after.c_str())};
  }
  if (attachment.outcome == "interrupted") {
    return {ExitCode::kPeerLost, line("stopped", ", before it was finished, and ringside did not ask it to stop")};
  }
  if (attachment.outcome == "failed") return {ExitCode::kPeerLost, line("reported that it failed")};
  if (attachment.outcome == "diverged") return {ExitCode::kUsage, line("reported that it diverged")};
  return {};
}

ProgramVerdict judge_attached(const ProgramRunEnd& run) {
  const AttachmentReport& attachment = run.attachment;
  if (attachment.how == "detached") {
    if (attachment.code != ExitCode::kDone) return {attachment.code, attachment.text};
    if (run.interrupted) return {};
    if (run.end.status == 0 || run.is_attended) return judge_outcome(run);
    return {code_of_failure(run.end), fmt::format("{} {} {}; every published step is committed", run.program,
                                                  run.end.in_words(), when(attachment))};
  }
  if (attachment.how == "stop_requested" || attachment.how == "stopped_by_trigger" ||
      attachment.how == "protocol_violation") {
    return {attachment.code, attachment.text};
  }
  if (!run.analyzer_death.empty()) return {ExitCode::kPeerLost, "the analyzer " + run.analyzer_death};
  return judge_lost(run);
}

}  // namespace

std::string ProcessEnd::in_words() const {
  if (signal != 0) return fmt::format("died of signal {} ({})", signal, strsignal(signal));
  return status ? fmt::format("ended with status {}", *status) : "ended";
}

ProgramVerdict judge(const ProgramRunEnd& run) {
  if (is_storage_lost(run.attachment.code)) return {run.attachment.code, run.attachment.text};
  if (is_storage_lost(run.analyzer_verdict)) return {run.analyzer_verdict, ""};  // the analyzer has reported the reason
  ProgramVerdict verdict = run.attachment.attached ? judge_attached(run) : judge_unattached(run);
  if (!run.attachment.attached && !run.analyzer_death.empty() && !run.interrupted) {
    verdict = {ExitCode::kPeerLost, "the analyzer " + run.analyzer_death};
  }
  if (run.interrupted) verdict.code = ExitCode::kInterrupted;
  return verdict;
}

std::optional<std::string> AttachmentReminder::due(std::int64_t now_ns, const std::string& program, pid_t pid,
                                                   const std::string& socket) {
  if (told_ || now_ns - begun_ns_ < kAfterS * 1'000'000'000) return std::nullopt;
  told_ = true;
  return fmt::format(
      "{} (process {}) has not attached for {} s; expected ringside_writer_attach with RINGSIDE_SOCKET={}; still "
      "waiting",
      program, pid, kAfterS, socket);
}

void count_in_pool(AttachmentReport& attachment, const std::string& pool) {
  if (!attachment.attached || !attachment.how.empty()) return;
  try {
    const RingReader reader = RingReader::open(pool, std::chrono::milliseconds(0));
    for (const KeptSlot& kept : reader.recover().kept) {  // the newest step is the last
      if (to_string(kept.header.run_id) != attachment.run_id) continue;
      attachment.iteration = kept.header.iteration;
      attachment.committed = kept.header.step + 1;  // steps are numbered from 0
    }
  } catch (const Error&) {
    attachment.is_counted = false;
  }
}

}  // namespace ringside
