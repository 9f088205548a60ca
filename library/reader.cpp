// SPDX-License-Identifier: BSD-3-Clause
// The reading half of the C interface: handles for a RingReader and for the steps that it holds.
#include "library/reader.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/files/watched_mapping.hpp"
#include "common/kernels/id_bytes.hpp"
#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/text/formatted.hpp"
#include "common/text/printable.hpp"
#include "common/threads/team.hpp"
#include "library/handle.hpp"
#include "include/ringside.h"

using namespace ringside;
using library::guarded;
using library::Listed;
using library::Refusal;
using library::RunState;
using library::usable;
using library::usable_call;

struct ringside_step {
  ringside_reader* reader = nullptr;
  HeldStep held;
  ringside_step_info info{};
};

namespace {

std::vector<ringside_variable> variables_of(const Schema& schema) {
  std::vector<ringside_variable> made;
  for (const Variable& variable : schema.variables()) {
    ringside_variable& given = made.emplace_back();
    given.size = sizeof(given);
    given.dtype = static_cast<std::uint16_t>(variable.dtype);
    given.role = static_cast<std::uint16_t>(variable.role);
    given.dims = static_cast<std::uint32_t>(variable.shape.size());
    given.name = variable.name.c_str();
    given.unit = variable.unit.c_str();
    std::copy(variable.shape.begin(), variable.shape.end(), given.shape);
  }
  return made;
}

const Schema& schema_of(const ringside_reader& reader) {
  return reader.reader.ring().geometry().schema();
}

ringside_reader* reader_of(ringside_step* step) {
  return step != nullptr ? step->reader : nullptr;
}

void check_variable(const ringside_reader& reader, std::uint32_t variable) {
  const std::size_t count = schema_of(reader).size();
  if (variable >= count) throw usage_error("variable {}: expected less than {}", variable, count);
}

/// The description of the step of `header`. Empty if the slot no longer contains this step.
std::optional<ringside_step_info> info_of(const RingView& ring, std::uint32_t slot, const SlotHeader& header) {
  ringside_step_info info{};
  info.slot = slot;
  info.commit_seq = header.commit_seq;
  info.step = ring.step(slot).descriptor.step;
  info.iteration = header.iteration;
  put_id(info.run_id, header.run_id);
  return ring.still_holds(slot, header) ? std::optional(info) : std::nullopt;
}

Error damage_of(const ringside_reader& reader, std::uint64_t iteration) {
  return damage_error("{}: iteration {} is damaged: its bytes are not those that were committed",
                      reader.reader.path().string(), iteration);
}

/// The time at which a wait of `seconds` seconds ends.
std::chrono::steady_clock::time_point deadline(double seconds) {
  constexpr double kLongestS = 1e9;  // 31 years, used for "no limit"
  const std::chrono::duration<double> limit(std::min(seconds, kLongestS));
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit);
}

ringside_status status_of(ringside_step& step, HeldStatus status) {
  switch (status) {
    case HeldStatus::kOk: return RINGSIDE_OK;
    case HeldStatus::kOverwritten: return step.reader->error.set(RINGSIDE_OVERWRITTEN, step.held.why_lost());
    case HeldStatus::kDamaged: break;
  }
  throw damage_of(*step.reader, step.held.header().iteration);
}

Error left_alone(const ringside_reader& reader) {
  return peer_error(
      "{}: no process has owned this pool for {} s, and its journal does not record the end of the run; expected an "
      "analyzer, or RINGSIDE_FOLLOW_POOL to wait for one",
      reader.reader.path().string(), library::RunEnd::kOwnerless.count());
}

/// Opens the pool. Waits for a pool that does not exist yet, if the caller wants that.
RingReader opened(const char* pool, const ringside_reader_options& options) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  constexpr milliseconds kBetweenLooks{5};
  const auto give_up = deadline(options.wait_s);
  const StopFlag stop(options.stop);
  const std::filesystem::path path = std::filesystem::absolute(pool);  // the process may change its working folder
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(give_up - steady_clock::now());
    try {
      return RingReader::open(path, std::max(left, RingReader::kPatience), stop);
    } catch (const MissingPoolError& error) {
      if (left <= milliseconds(0)) throw Refusal(RINGSIDE_REASON_NO_FILE, error);
    } catch (const Error& error) {
      if (error.code() != ExitCode::kUsage) throw;
      throw Refusal(RINGSIDE_REASON_NO_POOL, error);
    }
    if (stop.is_set()) throw Error(ExitCode::kInterrupted, "interrupted: `stop` is set");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

void library::usable(const ringside_reader& reader) {
  if (!reader.process.is_owner()) throw library::Refusal(RINGSIDE_REASON_PROCESS, reader.process.misuse());
  reader.reader.check_intact();
}

ringside_status library::gone(ringside_reader& reader, std::uint64_t commit_seq) {
  const std::vector<KeptSlot> kept = reader.reader.recover().kept;
  if (kept.empty() || kept.back().header.commit_seq < commit_seq) return RINGSIDE_ABSENT;
  return reader.error.set(RINGSIDE_OVERWRITTEN,
                          formatted("{}: commit {} is not kept", reader.reader.path().string(), commit_seq));
}

void library::check_named(std::uint64_t commit_seq) {
  if (commit_seq != RINGSIDE_NEWEST) return;
  throw usage_error(
      "found RINGSIDE_NEWEST, expected the commit_seq of a step; only ringside_reader_hold accepts RINGSIDE_NEWEST");
}

ringside_reader::ringside_reader(RingReader opened, const ringside_reader_options& options)
    : reader(std::move(opened)),
      variables(variables_of(reader.ring().geometry().schema())),
      stop(options.stop),
      follows_pool(options.follow == RINGSIDE_FOLLOW_POOL),
      run_end(reader.path().string()) {}

ringside_status ringside_reader_open(const char* pool, const ringside_reader_options* options, ringside_reader** out,
                                     ringside_error* error) {
  if (!library::is_place_for(error)) return RINGSIDE_USAGE;
  return guarded(error, [&] {
    if (out == nullptr) throw usage_error("ringside_reader_open: `out` is NULL; expected the address of a handle");
    *out = nullptr;
    if (pool == nullptr) throw usage_error("ringside_reader_open: the pool is NULL; expected a path");
    ringside_reader_options given{};
    if (options != nullptr) given = library::taken(options, "ringside_reader_options");
    if (given.follow > RINGSIDE_FOLLOW_POOL) {
      throw usage_error("follow: found {}, expected 1 to {}, or 0", given.follow, RINGSIDE_FOLLOW_POOL + 0);
    }
    if (!(given.wait_s >= 0)) throw usage_error("wait_s: found {}, expected 0 or more", given.wait_s);
    *out = new ringside_reader(opened(pool, given), given);
  });
}

ringside_status ringside_reader_variables(ringside_reader* reader, ringside_variable* out, size_t room, size_t* count) {
  return usable_call(
      reader, [&] { library::give_all(reader->variables, out, room, count, "ringside_variable", Listed::kFirst); });
}

ringside_status ringside_reader_find_variable(ringside_reader* reader, const char* name, uint32_t* variable) {
  return usable_call(reader, [&]() -> ringside_status {
    if (name == nullptr) throw usage_error("ringside_reader_find_variable: the name is NULL; expected a text");
    const auto& all = reader->variables;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return std::strcmp(one.name, name) == 0; });
    if (found == all.end()) return RINGSIDE_ABSENT;
    if (variable != nullptr) *variable = static_cast<uint32_t>(found - all.begin());
    return RINGSIDE_OK;
  });
}

ringside_status ringside_reader_runs(ringside_reader* reader, ringside_run* out, size_t room, size_t* count) {
  return usable_call(reader, [&] {
    reader->runs.clear();
    std::vector<ringside_run> runs;
    for (const RunReading& reading : reader->reader.ring().runs()) {
      const RunDescription& run = reading.run;
      // These texts come from a file. So they are made printable, and end with NUL.
      reader->runs.push_back(
          {printable(text_of(run.solver)), printable(text_of(run.matrix)), printable(text_of(run.parameters))});
      ringside_run& made = runs.emplace_back();
      put_id(made.run_id, run.run_id);
      put_id(made.problem_id, run.problem_id);
      made.started_unix_ns = run.started_realtime_ns;
      made.work = run.nonzeros;
    }
    for (std::size_t r = 0; r < runs.size(); ++r) {
      runs[r].solver = reader->runs[r].solver.c_str();
      runs[r].problem = reader->runs[r].problem.c_str();
      runs[r].parameters = reader->runs[r].parameters.c_str();
    }
    library::give_all(runs, out, room, count, "ringside_run", Listed::kLast);
  });
}

ringside_status ringside_reader_steps(ringside_reader* reader, ringside_step_info* out, size_t room, size_t* count) {
  return usable_call(reader, [&] {
    std::vector<ringside_step_info> infos;
    for (const KeptSlot& kept : reader->reader.recover().kept) {
      if (const auto info = info_of(reader->reader.ring(), kept.slot, kept.header)) infos.push_back(*info);
    }
    library::give_all(infos, out, room, count, "ringside_step_info", Listed::kLast);
  });
}

ringside_status ringside_reader_next(ringside_reader* reader, uint64_t after, double timeout_s,
                                     ringside_step_info* out) {
  return usable_call(reader, [&]() -> ringside_status {
    using std::chrono::steady_clock;
    if (timeout_s != timeout_s) throw usage_error("timeout_s: found NaN, expected seconds, or less than 0");
    if (out == nullptr) throw usage_error("ringside_step_info: found NULL, expected a pointer to a ringside_step_info");
    library::check_size(out->size, library::kFirstSize<ringside_step_info>, "ringside_step_info");
    constexpr std::chrono::milliseconds kSlice{100};  // between two checks for the run's end
    const auto give_up = deadline(timeout_s < 0 ? std::numeric_limits<double>::infinity() : timeout_s);
    RunState state = RunState::kGoesOn;
    while (true) {
      const auto now = steady_clock::now();
      const auto wait = state != RunState::kGoesOn ? std::chrono::nanoseconds(0)
                                                   : std::min<std::chrono::nanoseconds>(give_up - now, kSlice);
      if (const std::optional<KeptSlot> kept = reader->reader.next(after, wait, reader->stop)) {
        const std::optional<ringside_step_info> info = info_of(reader->reader.ring(), kept->slot, kept->header);
        if (!info) continue;  // the step was overwritten meanwhile
        library::give(*info, out, "ringside_step_info");
        reader->run_end.step_came();
        return RINGSIDE_OK;
      }
      usable(*reader);
      // After the end of the run was found, the ring was searched once more, but no further step was found.
      if (state == RunState::kEnded) return RINGSIDE_END;
      if (state == RunState::kLeft) throw left_alone(*reader);
      if (reader->stop.is_set()) return reader->error.set(RINGSIDE_INTERRUPTED, "interrupted: `stop` is set");
      if (!reader->follows_pool) state = reader->run_end.state(steady_clock::now());
      if (state == RunState::kGoesOn && steady_clock::now() >= give_up) return RINGSIDE_TIMEOUT;
    }
  });
}

ringside_status ringside_reader_hold(ringside_reader* reader, uint64_t commit_seq, ringside_step** out) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->error, [&]() -> ringside_status {
    if (out == nullptr) throw usage_error("ringside_reader_hold: `out` is NULL; expected the address of a handle");
    *out = nullptr;
    usable(*reader);
    auto step = std::make_unique<ringside_step>();
    step->reader = reader;
    const std::string pool = reader->reader.path().string();
    switch (reader->reader.hold(commit_seq, step->held)) {
      case HoldOutcome::kHeld: break;
      case HoldOutcome::kNotKept: return library::gone(*reader, commit_seq);
      case HoldOutcome::kOverwritten:
        return reader->error.set(RINGSIDE_OVERWRITTEN,
                                 formatted("{}: the analyzer is overwriting commit {}", pool, commit_seq));
      case HoldOutcome::kNoLeases:
        throw system_error(
            "{}: its file system has no byte-range locks (F_OFD_SETLK), or NFS has locked the whole file; expected a "
            "local file system, or a copy of the step",
            pool);
    }
    const auto info = info_of(reader->reader.ring(), step->held.slot(), step->held.header());
    if (!info) return status_of(*step, step->held.check());
    step->info = *info;
    ++reader->steps;
    *out = step.release();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_step_describe(ringside_step* step, ringside_step_info* out) {
  return usable_call(reader_of(step), [&]() -> ringside_status {
    library::give(step->info, out, "ringside_step_info");
    return status_of(*step, step->held.check());
  });
}

ringside_status ringside_step_view(ringside_step* step, uint32_t variable, const void** data, size_t* bytes) {
  return usable_call(reader_of(step), [&] {
    check_variable(*step->reader, variable);
    const std::span<const std::byte> view = step->held.view(variable);
    if (data != nullptr) *data = view.data();
    if (bytes != nullptr) *bytes = view.size();
  });
}

ringside_status ringside_step_verify(ringside_step* step, uint32_t variable) {
  return usable_call(reader_of(step), [&]() -> ringside_status {
    SingleThread team;
    if (variable == RINGSIDE_ALL_VARIABLES) return status_of(*step, step->held.verify(team));
    check_variable(*step->reader, variable);
    return status_of(*step, step->held.verify(variable, team));
  });
}

ringside_status ringside_step_check(ringside_step* step) {
  return usable_call(reader_of(step), [&]() -> ringside_status { return status_of(*step, step->held.check()); });
}

ringside_status ringside_step_release(ringside_step* step) {
  if (step == nullptr) return RINGSIDE_OK;
  ringside_reader* const reader = step->reader;
  const ringside_status status = guarded(reader->error, [&]() -> ringside_status {
    usable(*reader);
    return status_of(*step, step->held.release());
  });
  delete step;  // ends the lease if `release` did not
  if (--reader->steps == 0 && reader->freed) delete reader;
  return status;
}

ringside_status ringside_reader_copy(ringside_reader* reader, uint64_t commit_seq, uint32_t variable, void* to,
                                     size_t bytes) {
  return usable_call(reader, [&]() -> ringside_status {
    library::check_named(commit_seq);
    check_variable(*reader, variable);
    const VariablePlace& place = schema_of(*reader).place(variable);
    if (to == nullptr || bytes < place.bytes) {
      throw usage_error("variable {}: found room for {} bytes, expected {}", variable, bytes, place.bytes);
    }
    const std::optional<KeptSlot> kept = reader->reader.find(commit_seq);
    if (!kept) return library::gone(*reader, commit_seq);
    switch (reader->reader.copy(*kept, variable, to)) {
      case HeldStatus::kOk: return RINGSIDE_OK;
      case HeldStatus::kOverwritten:
        return reader->error.set(RINGSIDE_OVERWRITTEN,
                                 formatted("{}: iteration {} was overwritten while it was copied",
                                           reader->reader.path().string(), kept->header.iteration));
      case HeldStatus::kDamaged: break;
    }
    throw damage_of(*reader, kept->header.iteration);
  });
}

const ringside_error* ringside_reader_error(const ringside_reader* reader) {
  return reader != nullptr ? &reader->error.get() : library::no_handle();
}

void ringside_reader_free(ringside_reader* reader) {
  if (reader == nullptr) return;
  reader->freed = true;
  if (reader->steps == 0) delete reader;
}

void ringside_catch_bus_errors(void) {
  catch_bus_errors(false);
}
