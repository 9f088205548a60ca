// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/journal/step_record.hpp"

#include "common/kernels/id_bytes.hpp"
#include "common/records/results_message.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

/// Length in bytes of the well-formed UTF-8 character that `text` begins with; 0 if there is none (RFC 3629).
std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xc2 && first <= 0xdf   ? 2
                            : first >= 0xe0 && first <= 0xef ? 3
                            : first >= 0xf0 && first <= 0xf4 ? 4
                                                             : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Refused: overlong forms, surrogates, and code points above the last one.
  const bool refused = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return refused ? 0 : bytes;
}

void put_id(std::string& bytes, const Id128& id) {
  bytes.resize(kIdBytes);
  put_id(reinterpret_cast<unsigned char*>(bytes.data()), id);
}

/// All but the results.
void fill_figures(wire::StepRecord& record, const StepFigures& figures) {
  const StepDescriptor& step = figures.step;
  put_id(*record.mutable_run_id(), figures.run_id);
  record.set_step(step.step);
  record.set_iteration(step.iteration);
  record.set_commit_seq(figures.commit_seq);
  record.set_published_at_ns(step.published_at_ns);
  record.set_generate_ns(step.generate_ns);
  record.set_producer_idle_ns(step.producer_idle_ns);
  record.set_record_ns(figures.record_ns);
  record.set_analyzer_idle_ns(figures.analyzer_idle_ns);
  record.set_hand_off_ns(figures.hand_off_ns);
  record.set_transfer_ns(figures.transfer_ns);
  record.set_commit_ns(figures.commit_ns);
  record.set_analyze_ns(figures.analyze_ns);
  record.set_bytes_transferred(figures.bytes_transferred);
  record.set_steps_committed(figures.steps_committed);
  record.set_steps_persisted(figures.steps_persisted);
  record.set_skipped_before(step.skipped_before);
  record.set_rebuilt(figures.rebuilt);
  record.set_broke_lease(figures.broke_lease);
  record.set_guarded_commit_seq(figures.guarded_commit_seq);
}

}  // namespace

std::string bytes_of(const Id128& id) {
  std::string bytes;
  put_id(bytes, id);
  return bytes;
}

std::optional<Id128> id_of(std::string_view bytes) noexcept {
  if (bytes.size() != kIdBytes) return std::nullopt;
  return id_at(reinterpret_cast<const unsigned char*>(bytes.data()));
}

std::string utf8_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    out += bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

void fill(wire::StepRecord& record, const StepFigures& figures, const RecordLayout& layout,
          std::span<const std::uint64_t> values) {
  fill_figures(record, figures);
  fill(*record.mutable_results(), layout, values);
}

void fill(wire::StepRecord& record, const RecordedStep& step) {
  if (step.results.layout()) {
    fill(record, step.figures, *step.results.layout(), step.results.words());
    return;
  }
  fill_figures(record, step.figures);
  record.mutable_results()->Clear();  // present: so the record is not from before results had names
}

void fill(wire::RecordsMissing& record, const MissingSteps& missing) {
  put_id(*record.mutable_run_id(), missing.run_id);
  record.set_first_step(missing.first_step);
  record.set_steps(missing.steps);
  record.set_first_commit_seq(missing.first_commit_seq);
  record.set_first_iteration(missing.first_iteration);
  record.set_last_iteration(missing.last_iteration);
}

std::optional<RecordedStep> step_of(const wire::StepRecord& record, const ResultNames& names) {
  const std::optional<Id128> run_id = id_of(record.run_id());
  if (!run_id) return std::nullopt;
  RecordedStep step{.figures = {}, .results = names.results(record)};
  StepFigures& figures = step.figures;
  figures.run_id = *run_id;
  figures.step = {.step = record.step(),
                  .iteration = record.iteration(),
                  .generate_ns = record.generate_ns(),
                  .producer_idle_ns = record.producer_idle_ns(),
                  .published_at_ns = record.published_at_ns(),
                  .skipped_before = record.skipped_before()};
  figures.commit_seq = record.commit_seq();
  figures.record_ns = record.record_ns();
  figures.analyzer_idle_ns = record.analyzer_idle_ns();
  figures.hand_off_ns = record.hand_off_ns();
  figures.transfer_ns = record.transfer_ns();
  figures.commit_ns = record.commit_ns();
  figures.analyze_ns = record.analyze_ns();
  figures.bytes_transferred = record.bytes_transferred();
  figures.steps_committed = record.steps_committed();
  figures.steps_persisted = record.steps_persisted();
  figures.rebuilt = record.rebuilt();
  figures.broke_lease = record.broke_lease();
  figures.guarded_commit_seq = record.guarded_commit_seq();
  return step;
}

}  // namespace ringside
