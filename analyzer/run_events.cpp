// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/run_events.hpp"

#include <fmt/format.h>

#include <string>

#include "analyzer/recorder/mark_records.hpp"
#include "common/json/json.hpp"
#include "common/options/options.hpp"
#include "common/program/schema_json.hpp"
#include "common/records/record_layout.hpp"
#include "common/records/record_message.hpp"
#include "common/text/printable.hpp"

namespace ringside {

const char* to_text(ServeEnd end) {
  switch (end) {
    case ServeEnd::kDetached: return "detached";
    case ServeEnd::kProducerLost: return "producer_lost";
    case ServeEnd::kProducerStopped: return "producer_stopped";
    case ServeEnd::kStopped: return "stopped";
    case ServeEnd::kStopRequested: return "stop_requested";
    case ServeEnd::kTriggered: return "stopped_by_trigger";
    case ServeEnd::kViolation: return "protocol_violation";
    case ServeEnd::kSyncFailed: break;
  }
  return "sync_failed";
}

const char* to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFinished: return "finished";
    case Outcome::kInterrupted: return "interrupted";
    case Outcome::kDiverged: return "diverged";
    case Outcome::kFailed: break;
  }
  return "failed";
}

Json describe_attachment(const HandoffReader& handoff, const Attachment& attachment, const std::string& note) {
  const RunDescription& run = attachment.run();
  const bool resumed = attachment.start() == RunStart::kResume;
  Json line{{"event", "attached"},
            {"pid", handoff.producer_pid()},
            {"resumed_from", resumed ? attachment.from_iteration() : 0},
            {"coordination", to_string(handoff.coordination())},
            {"buffers", handoff.buffers()},
            {"elastic", handoff.elastic()},
            {"run",
             {{"run_id", to_string(run.run_id)},
              {"problem_id", to_string(run.problem_id)},
              {"solver", text_of(run.solver)},
              {"matrix", text_of(run.matrix)},
              {"parameters", text_of(run.parameters)},
              {"rows", run.entries},
              {"nonzeros", run.nonzeros},
              {"schema", variables_to_json(handoff.schema())}}}};
  if (!note.empty()) line["note"] = note;
  if (note.empty() && handoff.pool_use() == PoolUse::kResume && !resumed) {
    line["note"] = "nothing to continue from: the run begins with iteration 1";
  }
  return line;
}

Json plug_ins_json(const PlugInSet& plug_ins) {
  Json all = Json::array();
  for (const PlugInState& one : plug_ins.states()) {
    all.push_back({{"name", one.name},
                   {"spec", one.spec},
                   {"deaths", one.deaths},
                   {"left_out", one.left_out},
                   {"why", one.why.empty() ? Json() : Json(one.why)}});
  }
  return all;
}

Json triggers_json(const RunTriggers& triggers) {
  Json all = Json::array();
  for (std::size_t t = 0; t < triggers.specs().size(); ++t) {
    const TriggerSpec& spec = triggers.specs()[t];
    const TriggerCount& count = triggers.counts()[t];
    if (spec.actions == 0) continue;
    const bool has_fired = count.fired > 0;
    all.push_back({{"name", spec.name},
                   {"condition", spec.condition},
                   {"actions", action_texts(spec)},
                   {"fired", count.fired},
                   {"first_iteration", has_fired ? Json(count.first_iteration) : Json()},
                   {"last_iteration", has_fired ? Json(count.last_iteration) : Json()}});
  }
  return all;
}

std::vector<wire::Record> marks_at_start(const Attachment& attachment) {
  const RunTriggers& triggers = attachment.triggers();
  std::vector<wire::Record> records =
      mark_records(triggers.at_begin().marks, triggers.at_begin().figures, triggers.specs());
  if (attachment.plug_in_lines().empty()) return records;
  for (const PlugInState& one : attachment.plug_ins().states()) {
    if (one.deaths == 0) continue;
    wire::Mark& mark = *records.emplace_back().mutable_mark();
    mark.set_run_id(bytes_of(attachment.run().run_id));
    mark.set_iteration(attachment.from_iteration());
    mark.set_cause("plug_in");
    mark.set_name(utf8_text(one.name));
    mark.set_text(utf8_text(fmt::format("the plug-in has ended {} analyzer{} of this run{}{}", one.deaths,
                                        one.deaths == 1 ? "" : "s", one.why.empty() ? "" : ": " + one.why,
                                        one.left_out ? "; it is left out" : "")));
  }
  return records;
}

std::vector<wire::Record> marks_at_end(const Attachment& attachment) {
  const RunTriggers::Marked found = attachment.triggers().at_end();
  return mark_records(found.marks, found.figures, attachment.triggers().specs());
}

RunToRecord describe_start(const HandoffReader& handoff, Attachment& attachment, const AnalyzerOptions& options) {
  const RunDescription& run = attachment.run();
  RunToRecord recorded{.kept_steps = attachment.take_kept_steps(),
                       .described_runs = described_runs(attachment.pool().ring()),
                       .storage = attachment.pool().storage(),
                       .layout = attachment.layout(),
                       .triggers = attachment.triggers().specs(),
                       .started = {},
                       .last_iteration = attachment.from_iteration()};
  wire::RunStarted& started = recorded.started;
  started.set_run_id(bytes_of(run.run_id));
  started.set_problem_id(bytes_of(run.problem_id));
  started.set_rows(run.entries);
  started.set_nonzeros(run.nonzeros);
  started.set_solver(utf8_text(text_of(run.solver)));
  started.set_matrix(utf8_text(text_of(run.matrix)));
  started.set_parameters(utf8_text(text_of(run.parameters)));
  started.set_started_unix_ns(run.started_realtime_ns);
  started.set_from_step(handoff.steps_released());
  started.set_from_iteration(attachment.start() == RunStart::kResume ? attachment.from_iteration() : 0);
  started.set_first_commit_seq(attachment.first_commit_seq());
  started.set_buffers(handoff.buffers());
  started.set_coordination(to_string(handoff.coordination()));
  started.set_pool_id(bytes_of(attachment.pool().ring().geometry().pool_id));
  started.set_slots(attachment.pool().ring().geometry().slot_count());
  started.set_storage(std::string(to_string(recorded.storage)));
  started.set_durability(std::string(to_string(options.ring.durability)));
  started.set_passes(static_cast<std::uint32_t>(options.reduce.passes));
  started.set_reduce(to_string(options.reduce.at));
  describe(started, *attachment.layout());
  const std::vector<PlugInState> states = attachment.plug_ins().states();
  for (std::size_t p = 0; p < states.size(); ++p) {
    const PlugIn& plug_in = attachment.plug_ins().plug_ins()[p];
    wire::PlugIn& out = *started.add_plug_ins();
    out.set_name(plug_in.name());
    out.set_spec(utf8_text(plug_in.spec().absolute()));
    out.set_id(bytes_of(plug_in.id()));
    out.set_deaths(states[p].deaths);
    out.set_left_out(states[p].left_out);
  }
  if (const auto& freeze = attachment.triggers().freeze()) started.set_frozen_at_iteration(freeze->iteration);
  if (const std::optional<RanksFile>& ranks = attachment.ranks()) {
    started.mutable_part()->set_nodes(static_cast<std::uint32_t>(ranks->nodes.size()));
    started.mutable_part()->set_node(ranks->node);
    started.mutable_part()->set_ranks(ranks->ranks_text(ranks->node));
  }
  started.set_producer_pid(static_cast<std::uint32_t>(handoff.producer_pid()));
  if (const PlannedStepOptions& planned = options.planned; planned.step_ns > 0) {
    started.mutable_planned()->set_step_ns(static_cast<std::int64_t>(planned.step_ns));
    started.mutable_planned()->set_low_ns(static_cast<std::int64_t>(planned.low_ns));
    started.mutable_planned()->set_high_ns(static_cast<std::int64_t>(planned.high_ns));
    started.mutable_planned()->set_producer_idle_ns(static_cast<std::int64_t>(planned.producer_idle_ns));
    started.mutable_planned()->set_analyzer_idle_ns(static_cast<std::int64_t>(planned.analyzer_idle_ns));
  }
  return recorded;
}

wire::RunEnded describe_end(const Attachment& attachment, const AnalyzerAccount& account, ServeEnd end, Outcome outcome,
                            const Error& error) {
  wire::RunEnded ended;
  ended.set_run_id(bytes_of(attachment.run().run_id));
  ended.set_how(to_text(end));
  ended.set_outcome(to_text(outcome));
  ended.set_steps_committed(account.steps_committed.load());
  ended.set_steps_persisted(account.steps_persisted.load());
  ended.set_last_iteration(account.last_iteration.load());
  ended.set_exit_code(static_cast<std::uint32_t>(error.code()));
  ended.set_text(utf8_text(error.what()));
  ended.set_steps_not_kept(account.steps_not_kept.load());
  return ended;
}

}  // namespace ringside
