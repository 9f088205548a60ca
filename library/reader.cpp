// SPDX-License-Identifier: BSD-3-Clause
// The reading half of the C interface: a RingReader and its held steps behind handles.
#include "library/reader.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/files/watched_mapping.hpp"
#include "common/platform/fork_mark.hpp"
#include "common/platform/formatted.hpp"
#include "common/platform/printable.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/results/result_values.hpp"
#include "common/threads/team.hpp"
#include "library/handle.hpp"
#include "library/ringside.h"

using namespace ringside;
using library::guarded;
using library::Line;
using library::usable;

struct ringside_step {
  ringside_reader* reader = nullptr;
  HeldStep held;
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

void check_variable(const ringside_reader& reader, std::uint32_t variable) {
  const std::size_t count = schema_of(reader).size();
  if (variable >= count) throw usage_error("variable {}: expected less than {}", variable, count);
}

/// Nothing if the slot has taken another step.
std::optional<ringside_step_info> info_of(const RingView& ring, std::uint32_t slot, const SlotHeader& header) {
  ringside_step_info info{};
  info.slot = slot;
  info.commit_seq = header.commit_seq;
  info.step = ring.step(slot).descriptor.step;
  info.iteration = header.iteration;
  static_assert(sizeof(info.run_id) == sizeof(header.run_id));
  std::memcpy(info.run_id, &header.run_id, sizeof(info.run_id));
  return ring.still_holds(slot, header) ? std::optional(info) : std::nullopt;
}

/// The last `room` of them, ascending.
template <class Struct>
void give_newest(const std::vector<Struct>& all, Struct* out, std::size_t room, std::size_t* count, const char* type) {
  if (count != nullptr) *count = all.size();
  const std::size_t given = std::min(room, all.size());
  if (given == 0) return;
  if (out == nullptr) throw usage_error("{}: found NULL, expected room for {}", type, room);
  const std::uint32_t stride = out->size;
  library::check_size(stride, library::kFirstSize<Struct>, type);
  auto* at = reinterpret_cast<std::byte*>(out);
  for (std::size_t i = all.size() - given; i < all.size(); ++i, at += stride) {
    std::memcpy(at, &stride, sizeof(stride));
    library::give(all[i], reinterpret_cast<Struct*>(at), type);
  }
}

/// RINGSIDE_END if the pool has no step, else RINGSIDE_OVERWRITTEN and a line.
ringside_status gone(ringside_reader& reader, std::uint64_t commit_seq) {
  if (reader.reader.recover().kept.empty()) return RINGSIDE_END;
  reader.line.set(formatted("{}: commit {} is not kept", reader.reader.path().string(), commit_seq));
  return RINGSIDE_OVERWRITTEN;
}

ringside_status status_of(ringside_step& step, HeldStatus status) {
  switch (status) {
    case HeldStatus::kOk: return RINGSIDE_OK;
    case HeldStatus::kOverwritten: step.reader->line.set(step.held.why_lost()); return RINGSIDE_OVERWRITTEN;
    case HeldStatus::kDamaged: break;
  }
  throw damage_error("{}: iteration {} is damaged: its bytes are not those that were committed",
                     step.reader->reader.path().string(), step.held.header().iteration);
}

/// Points reader.results into reader.values.
void describe_results(ringside_reader& reader, const std::vector<std::uint64_t>& words, const StepWithScalars& step) {
  const Catalogue& catalogue = *reader.catalogue;
  const bool recorded = words.size() == catalogue.words();
  reader.values.resize(words.size() + catalogue.scalars().size());
  std::memcpy(reader.values.data(), words.data(), words.size() * sizeof(std::uint64_t));
  for (std::size_t s = 0; s < catalogue.scalars().size(); ++s) {
    reader.values[words.size() + s].i64 = static_cast<std::int64_t>(step.scalar(s));
  }
  reader.results.clear();
  for (const Result& result : catalogue.results()) {
    const bool is_scalar = result.source == ResultSource::kScalar;
    const bool present = is_scalar || (recorded && ResultValues(words).present(result));
    const std::size_t first = is_scalar ? words.size() + result.word : result.word;
    ringside_result& given = reader.results.emplace_back();
    given.size = sizeof(given);
    given.type = static_cast<std::uint32_t>(result.type);
    given.name = result.full_name.c_str();
    given.unit = result.unit.c_str();
    given.count = result.count;
    given.values = present ? reader.values.data() + first : nullptr;
  }
}

}  // namespace

void library::usable(const ringside_reader& reader) {
  if (!reader.process.is_owner()) throw reader.process.misuse();
  reader.reader.check_intact();
}

ringside_reader::ringside_reader(const char* pool)
    : reader(RingReader::open(pool)), variables(variables_of(reader.ring().geometry().schema())) {}

ringside_status ringside_open(const char* pool, ringside_reader** out, ringside_error* error) {
  Line line;
  const ringside_status status = guarded(line, [&]() -> ringside_status {
    if (out == nullptr) return library::refuse(line, "ringside_open: `out` is NULL; expected the place of a handle");
    *out = nullptr;
    if (pool == nullptr) return library::refuse(line, "ringside_open: the pool is NULL; expected a path");
    *out = new ringside_reader(pool);
    return RINGSIDE_OK;
  });
  library::pass_on(line, status, error);
  return status;
}

ringside_status ringside_variables(ringside_reader* reader, const ringside_variable** out, size_t* count) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->line, [&]() -> ringside_status {
    usable(*reader);
    if (out == nullptr || count == nullptr) throw usage_error("ringside_variables: found NULL, expected two places");
    *out = reader->variables.data();
    *count = reader->variables.size();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_runs(ringside_reader* reader, ringside_run* out, size_t room, size_t* count) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->line, [&]() -> ringside_status {
    usable(*reader);
    reader->runs.clear();
    std::vector<ringside_run> runs;
    for (const RunReading& reading : reader->reader.ring().runs()) {
      const RunDescription& run = reading.run;
      // Texts of a file: printable, and ended.
      reader->runs.push_back(
          {printable(text_of(run.solver)), printable(text_of(run.matrix)), printable(text_of(run.parameters))});
      ringside_run& made = runs.emplace_back();
      std::memcpy(made.run_id, &run.run_id, sizeof(made.run_id));
      std::memcpy(made.problem_id, &run.problem_id, sizeof(made.problem_id));
      made.started_realtime_ns = run.started_realtime_ns;
      made.work = run.nonzeros;
    }
    for (std::size_t r = 0; r < runs.size(); ++r) {
      runs[r].solver = reader->runs[r].solver.c_str();
      runs[r].problem = reader->runs[r].problem.c_str();
      runs[r].parameters = reader->runs[r].parameters.c_str();
    }
    give_newest(runs, out, room, count, "ringside_run");
    return RINGSIDE_OK;
  });
}

ringside_status ringside_steps(ringside_reader* reader, ringside_step_info* out, size_t room, size_t* count) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->line, [&]() -> ringside_status {
    usable(*reader);
    std::vector<ringside_step_info> infos;
    for (const KeptSlot& kept : reader->reader.recover().kept) {
      if (const auto info = info_of(reader->reader.ring(), kept.slot, kept.header)) infos.push_back(*info);
    }
    give_newest(infos, out, room, count, "ringside_step_info");
    return RINGSIDE_OK;
  });
}

ringside_status ringside_next(ringside_reader* reader, uint64_t after, double timeout_s, const volatile int* stop,
                              ringside_step_info* out) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->line, [&]() -> ringside_status {
    using std::chrono::steady_clock;
    usable(*reader);
    if (timeout_s != timeout_s) throw usage_error("timeout_s: found NaN, expected seconds, or less than 0");
    if (out == nullptr) throw usage_error("ringside_step_info: found NULL, expected a place for it");
    library::check_size(out->size, library::kFirstSize<ringside_step_info>, "ringside_step_info");
    constexpr double kLongestS = 1e9;  // 31 years: no limit
    const std::chrono::duration<double> limit(timeout_s < 0 ? kLongestS : std::min(timeout_s, kLongestS));
    const auto give_up = steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit);
    const StopFlag stopped(stop);
    while (const std::optional<KeptSlot> kept = reader->reader.next(after, give_up - steady_clock::now(), stopped)) {
      const std::optional<ringside_step_info> info = info_of(reader->reader.ring(), kept->slot, kept->header);
      if (!info) continue;  // overwritten meanwhile
      library::give(*info, out, "ringside_step_info");
      return RINGSIDE_OK;
    }
    usable(*reader);
    if (!stopped.is_set()) return RINGSIDE_TIMEOUT;
    reader->line.set("interrupted: `stop` is set");
    return RINGSIDE_INTERRUPTED;
  });
}

ringside_status ringside_hold(ringside_reader* reader, uint64_t commit_seq, ringside_step** out) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->line, [&]() -> ringside_status {
    if (out == nullptr) throw usage_error("ringside_hold: `out` is NULL; expected the place of a handle");
    *out = nullptr;
    usable(*reader);
    auto step = std::make_unique<ringside_step>();
    step->reader = reader;
    const std::string pool = reader->reader.path().string();
    switch (reader->reader.hold(commit_seq, step->held)) {
      case HoldOutcome::kHeld: break;
      case HoldOutcome::kNotKept: return gone(*reader, commit_seq);
      case HoldOutcome::kOverwritten:
        reader->line.set(formatted("{}: the analyzer is overwriting commit {}", pool, commit_seq));
        return RINGSIDE_OVERWRITTEN;
      case HoldOutcome::kNoLeases:
        throw system_error(
            "{}: its file system has no leases (F_OFD_SETLK), or a lock over the whole file (NFS); "
            "expected a local file system, or a copy of the step",
            pool);
    }
    ++reader->steps;
    *out = step.release();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_step_get_info(ringside_step* step, ringside_step_info* out) {
  if (step == nullptr) return RINGSIDE_USAGE;
  return guarded(step->reader->line, [&]() -> ringside_status {
    usable(*step->reader);
    const auto info = info_of(step->reader->reader.ring(), step->held.slot(), step->held.header());
    if (info) library::give(*info, out, "ringside_step_info");
    return status_of(*step, step->held.check());
  });
}

ringside_status ringside_view(ringside_step* step, uint32_t variable, const void** data, size_t* bytes) {
  if (step == nullptr) return RINGSIDE_USAGE;
  return guarded(step->reader->line, [&]() -> ringside_status {
    usable(*step->reader);
    check_variable(*step->reader, variable);
    const std::span<const std::byte> view = step->held.view(variable);
    if (data != nullptr) *data = view.data();
    if (bytes != nullptr) *bytes = view.size();
    return RINGSIDE_OK;
  });
}

ringside_status ringside_verify(ringside_step* step, uint32_t variable) {
  if (step == nullptr) return RINGSIDE_USAGE;
  return guarded(step->reader->line, [&]() -> ringside_status {
    usable(*step->reader);
    SingleThread team;
    if (variable == RINGSIDE_ALL) return status_of(*step, step->held.verify(team));
    check_variable(*step->reader, variable);
    return status_of(*step, step->held.verify(variable, team));
  });
}

ringside_status ringside_check(ringside_step* step) {
  if (step == nullptr) return RINGSIDE_USAGE;
  return guarded(step->reader->line, [&]() -> ringside_status {
    usable(*step->reader);
    return status_of(*step, step->held.check());
  });
}

ringside_status ringside_release(ringside_step* step) {
  if (step == nullptr) return RINGSIDE_OK;
  ringside_reader* const reader = step->reader;
  const ringside_status status = guarded(reader->line, [&]() -> ringside_status {
    usable(*reader);
    return status_of(*step, step->held.release());
  });
  delete step;  // ends the lease, if the release did not
  if (--reader->steps == 0 && reader->freed) delete reader;
  return status;
}

ringside_status ringside_copy(ringside_reader* reader, uint64_t commit_seq, uint32_t variable, void* to, size_t bytes) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->line, [&]() -> ringside_status {
    usable(*reader);
    check_variable(*reader, variable);
    const VariablePlace& place = schema_of(*reader).place(variable);
    if (to == nullptr || bytes < place.bytes) {
      throw usage_error("variable {}: found room for {} bytes, expected {}", variable, bytes, place.bytes);
    }
    const std::optional<KeptSlot> kept = reader->reader.find(commit_seq);
    if (!kept) return gone(*reader, commit_seq);
    switch (reader->reader.copy(*kept, variable, to)) {
      case HeldStatus::kOk: return RINGSIDE_OK;
      case HeldStatus::kOverwritten:
        reader->line.set(formatted("{}: iteration {} was overwritten while it was copied",
                                   reader->reader.path().string(), kept->header.iteration));
        return RINGSIDE_OVERWRITTEN;
      case HeldStatus::kDamaged: break;
    }
    throw damage_error("{}: iteration {} is damaged: its bytes are not those that were committed",
                       reader->reader.path().string(), kept->header.iteration);
  });
}

ringside_status ringside_results(ringside_reader* reader, uint64_t commit_seq, const ringside_result** out,
                                 size_t* count) {
  if (reader == nullptr) return RINGSIDE_USAGE;
  return guarded(reader->line, [&]() -> ringside_status {
    usable(*reader);
    const RingView& ring = reader->reader.ring();
    if (out == nullptr || count == nullptr) throw usage_error("ringside_results: found NULL, expected two places");
    const std::optional<KeptSlot> found = reader->reader.find(commit_seq);
    if (!found) return gone(*reader, commit_seq);
    const KeptSlot& kept = *found;
    SlotResults recorded;
    const ResultsState state = ring.results(kept.slot, kept.header, recorded);
    const std::optional<StepWithScalars> step = verified_step(ring, kept);
    if (!ring.still_holds(kept.slot, kept.header)) return gone(*reader, kept.header.commit_seq);
    if (state == ResultsState::kDamaged || !step) {
      throw damage_error("{}: the results of iteration {} are damaged", reader->reader.path().string(),
                         kept.header.iteration);
    }
    if (state != ResultsState::kRecorded) return RINGSIDE_ABSENT;
    const bool known = reader->catalogue && reader->catalogue_run == kept.header.run_id &&
                       reader->catalogue_hash == recorded.catalogue_hash;
    if (!known) {
      reader->catalogue = ring.catalogue(kept.header.run_id, recorded.catalogue_hash);
      reader->catalogue_run = kept.header.run_id;
      reader->catalogue_hash = recorded.catalogue_hash;
    }
    if (!reader->catalogue) return RINGSIDE_ABSENT;  // the run's description is no longer in the run table
    describe_results(*reader, recorded.words, *step);
    *out = reader->results.data();
    *count = reader->results.size();
    return RINGSIDE_OK;
  });
}

const char* ringside_reader_line(const ringside_reader* reader) {
  return reader != nullptr ? reader->line.text() : "no handle: found NULL";
}

void ringside_reader_free(ringside_reader* reader) {
  if (reader == nullptr) return;
  reader->freed = true;
  if (reader->steps == 0) delete reader;
}

void ringside_catch_bus_errors(void) {
  catch_bus_errors(false);
}
