// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/step_export.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/ring/kept_results.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/terminal_line.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// The error for a damaged iterate. `export` does not write an older iterate instead: the error names the newest intact
/// iterate, so that the user can decide.
Error damaged(const RingReader& reader, const KeptSlot& kept, std::uint64_t chunk) {
  const std::optional<KeptSlot> intact = newest_intact(reader.ring(), reader.recover());
  return damage_error("{}: iteration {} in slot {} is damaged (chunk {}); {}", reader.path().string(),
                      kept.header.iteration, kept.slot, chunk,
                      intact ? formatted("--iteration {} is the newest intact one", intact->header.iteration)
                             : std::string("none of the others is intact"));
}

/// A kept step of a pool, which is verified before any of its bytes are used. The step is either read in place from the
/// mapped pool, in which case still_there reports whether an analyzer has overwritten it, or it is a verified copy in
/// memory.
class VerifiedStep {
 public:
  enum class Way {
    kInPlace,  // holds the slot if possible; call `still_there` at the end
    kCopy      // copies the whole step, so that later overwriting has no effect
  };

  /// Holds or copies a step. Empty if another commit has overwritten the slot. Throws Error (exit code 5) if the step
  /// is damaged. If slots cannot be held, kInPlace becomes kCopy. The reader must outlive the step.
  static std::optional<VerifiedStep> open(const RingReader& reader, const KeptSlot& kept, Way way) {
    VerifiedStep step(reader, kept);
    if (way == Way::kInPlace && reader.hold(kept.header.commit_seq, step.held_) == HoldOutcome::kHeld) {
      const PayloadCheck check = reader.verify(kept);
      if (check.overwritten || !step.still_there()) return std::nullopt;
      if (check.intact()) return step;
      throw damaged(reader, kept, check.damaged_chunks.empty() ? 0 : check.damaged_chunks[0]);
    }
    step.copy_.resize(reader.ring().geometry().payload_bytes());
    const ReadResult result = reader.read(kept, step.copy_.data());
    if (result.status == ReadStatus::kDamaged) throw damaged(reader, kept, result.damaged_chunk);
    if (result.status == ReadStatus::kOverwritten) return std::nullopt;
    return step;
  }

  const KeptSlot& kept() const noexcept { return kept_; }
  std::span<const std::byte> bytes(std::size_t variable) const noexcept {
    if (copy_.empty()) return held_.view(variable);
    const VariablePlace& place = reader_->ring().geometry().schema().place(variable);
    return std::span(copy_).subspan(place.offset, place.bytes);
  }
  /// Whether everything read so far belongs to this step.
  bool still_there() noexcept { return !copy_.empty() || held_.check() == HeldStatus::kOk; }

 private:
  VerifiedStep(const RingReader& reader, const KeptSlot& kept) : reader_(&reader), kept_(kept) {}

  const RingReader* reader_;
  KeptSlot kept_;
  HeldStep held_;
  std::vector<std::byte> copy_;  // empty: in place
};

using Way = VerifiedStep::Way;

/// In a ring of K slots, the newest iterate is overwritten K - 1 commits later. On busy cores, the newest iterate of a
/// small ring may be overwritten a dozen times before its reader has finished.
constexpr int kExportAttempts = 100;

class StepWriter {
 public:
  explicit StepWriter(const StepExport& what) : what_(what), results_(what.reader.ring()) {
    if (what.archive != nullptr) archived_results_.emplace(what.archive->ring());
  }

  void expect_steps(std::size_t steps) { steps_ = steps; }

  /// Returns false if the step was overwritten before all of it was written.
  bool write(ExportSink& sink, VerifiedStep& step, bool archived) {
    const ExportedStep exported = exported_step(step, archived);
    try {
      sink.write(exported);
    } catch (const Error&) {
      reader(archived).check_intact();  // if the pool was truncated, reports that as the reason
      throw;
    }
    return step.still_there();
  }

  bool write(ExportSink& sink, const ChosenStep& chosen, Way way) {
    std::optional<VerifiedStep> step = VerifiedStep::open(reader(chosen.archived), chosen.kept, way);
    return step && write(sink, *step, chosen.archived);
  }

  void next_step() { ++done_; }
  void clear_progress() { line_.clear(); }

 private:
  const RingReader& reader(bool archived) const { return archived ? *what_.archive : what_.reader; }

  ExportedStep exported_step(const VerifiedStep& step, bool archived) {
    const SlotHeader& header = step.kept().header;
    ExportedStep exported{.iteration = header.iteration,
                          .step = header.step,
                          .run_id = to_string(header.run_id),
                          .results = (archived ? *archived_results_ : results_).of(step.kept()),
                          .part = {},
                          .wrote = {}};
    selected_of_.reset();
    exported.part = [this, &step](std::size_t v, const ChunkPlace& place) {
      if (selected_of_ != v) {
        const ExportedVariable& variable = what_.target.variables[v];
        values_ = select(variable.region, bytes_of(variable.variable.dtype), step.bytes(what_.variables[v]), selected_);
        selected_of_ = v;
      }
      return values_.subspan(place.offset, place.bytes);
    };
    exported.wrote = [this, iteration = header.iteration](std::uint64_t bytes) {
      written_ += bytes;
      if (what_.stop.is_set()) throw Error(ExitCode::kInterrupted, "interrupted before the output was complete");
      show_progress(iteration);
    };
    return exported;
  }

  /// Shows the progress on a terminal, at most ten times a second.
  void show_progress(std::uint64_t iteration) {
    if (!line_.on_terminal()) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    line_.show(fmt::format("iteration {}, {} of {}: {} written", with_separators(iteration), done_ + 1, steps_,
                           megabytes(written_)));
  }

  const StepExport& what_;
  KeptResults results_;
  std::optional<KeptResults> archived_results_;
  std::optional<std::size_t> selected_of_;  // the variable whose entries are in `values_`
  std::span<const std::byte> values_;
  std::vector<std::byte> selected_;  // the entries of one variable that a slice has gathered
  TerminalLine line_;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
  std::uint64_t written_ = 0;
  std::size_t done_ = 0;
  std::size_t steps_ = 1;
};

void note_damaged_headers(const StepExport& what, const Recovery& recovery) {
  if (recovery.damaged.empty()) return;
  write_standard_error(
      fmt::format("ringside: note: {}: the headers of {} slots are damaged; one may have held a newer iterate\n",
                  printable(what.reader.path().string()), recovery.damaged.size()));
}

}  // namespace

std::uint64_t export_one(const StepExport& what, const StepOptions& options) {
  const std::string pool = what.reader.path().string();
  StepWriter writer(what);
  // Output to a pipe is final, so it gets a copy that was verified as a whole.
  Way way = what.to_file ? Way::kInPlace : Way::kCopy;
  for (int attempt = 0; attempt < kExportAttempts; ++attempt) {
    const Recovery recovery = what.reader.recover();
    if (attempt == 0 && options.iteration == "last") note_damaged_headers(what, recovery);
    const KeptSlot kept = chosen_step(options, recovery, pool);
    std::optional<VerifiedStep> step = VerifiedStep::open(what.reader, kept, way);
    if (step) {
      // The output is opened only now: opening may empty an existing file, if the output is written in place.
      const std::unique_ptr<ExportSink> sink = what.format.make(what.target);
      if (writer.write(*sink, *step, false)) {
        sink->accept();
        sink->finish();
        writer.clear_progress();
        return kept.header.iteration;
      }
    }
    way = Way::kCopy;
  }
  throw system_error(
      "{}: the last iterate was overwritten {} times while it was read: an analyzer overwrites steps faster than they "
      "can be read",
      pool, kExportAttempts);
}

ExportedSeries export_series(const StepExport& what, const StepOptions& options) {
  const std::string pool = what.reader.path().string();
  const Recovery recovery = what.reader.recover();
  note_damaged_headers(what, recovery);
  const Recovery archive = what.archive != nullptr ? what.archive->recover() : Recovery();
  const std::vector<ChosenStep> chosen = chosen_steps(options, recovery, archive, pool);
  StepWriter writer(what);
  writer.expect_steps(chosen.size());
  ExportedSeries series;
  const std::unique_ptr<ExportSink> sink = what.format.make(what.target);
  for (const ChosenStep& step : chosen) {
    const bool written = writer.write(*sink, step, Way::kInPlace) || writer.write(*sink, step, Way::kCopy);
    if (written) {
      sink->accept();
      series.iterations.push_back(step.kept.header.iteration);
    } else {
      ++series.overwritten;
    }
    writer.next_step();
  }
  if (series.iterations.empty()) {
    throw system_error(
        "{}: all {} steps were overwritten while they were read: an analyzer overwrites steps faster than they can be "
        "read",
        pool, chosen.size());
  }
  sink->finish();
  writer.clear_progress();
  return series;
}

}  // namespace ringside
