// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kill/journal_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "analyzer/ring/kept_results.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/record_message.hpp"
#include "common/records/result_names.hpp"
#include "proto/ringside.pb.h"

namespace ringside::testing {
namespace {

/// The records of one run in a journal, by commit_seq.
struct Told {
  std::map<std::uint64_t, wire::StepRecord> steps;
  std::map<std::uint64_t, int> times;
  std::vector<wire::RecordsMissing> gaps;
};

class Check {
 public:
  Check(const std::string& pool, const Published& published) : pool_(pool), published_(published) {}

  void read() {
    if (journal_files_there(pool_).empty()) return;
    JournalReader journal = JournalReader::open(pool_);
    oldest_seq_ = journal.oldest_seq();
    if (!journal.damage().empty()) violated(journal.damage());
    while (const auto encoded = journal.next(0)) {
      wire::Record record;
      if (!record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) {
        violated(fmt::format("record {} does not parse", encoded->seq));
        continue;
      }
      names_.learn(record);
      take(record);
      by_seq_[encoded->seq] = record.SerializeAsString();
    }
  }

  /// The journal mentions each commit, from the oldest in it to the newest, exactly once. The oldest is the run's first
  /// commit, unless rotation removed that one.
  void check_commits() {
    for (auto& [run_id, told] : runs_) {
      if (told.times.empty()) continue;
      std::uint64_t expected = oldest_seq_ == 1 ? 1 : told.times.begin()->first;
      for (const auto& [commit_seq, times] : told.times) {
        if (commit_seq > expected) unnamed(expected, commit_seq - 1);
        if (times != 1) violated(fmt::format("commit {} is recorded or named {} times", commit_seq, times));
        expected = commit_seq + 1;
      }
      check_iterations(told);
      check_named_iterations(told);
    }
  }

  /// Compares the journal with the ring's kept steps; if `complete`, the journal must reach the newest step.
  void check_ring(bool complete) {
    if (!std::filesystem::exists(pool_)) return;
    std::vector<RecordedStep> kept;
    try {
      kept = kept_steps(RingReader::open(pool_).ring());
    } catch (const UnfinishedPoolError&) {
      return;
    }
    for (const RecordedStep& kept_step : kept) {
      const StepFigures& step = kept_step.figures;
      Told& told = runs_[bytes_of(step.run_id)];
      const auto found = told.steps.find(step.commit_seq);
      if (found != told.steps.end()) {
        compare(found->second, kept_step);
      } else if (complete) {
        unnamed(step.commit_seq, step.commit_seq);
      } else if (!told.times.empty() && step.commit_seq <= told.times.rbegin()->first) {
        violated(fmt::format("commit {} is in the ring, and the journal, which goes further, has no record of it",
                             step.commit_seq));
      }
    }
  }

  void check_seen(const Follower::Seen& seen) {
    for (const auto& [seq, bytes] : seen) {
      if (seq < oldest_seq_) continue;
      const auto found = by_seq_.find(seq);
      if (found == by_seq_.end()) {
        violated(fmt::format("record {} was seen live and is not in the journal", seq));
      } else if (found->second != bytes) {
        violated(fmt::format("record {} was seen live as another one than is in the journal", seq));
      } else {
        ++check_.records_compared;
      }
    }
  }

  JournalCheck result() { return std::move(check_); }

 private:
  void violated(const std::string& text) {
    if (check_.violations.size() < 20) check_.violations.push_back(text);
  }

  void unnamed(std::uint64_t first, std::uint64_t last) {
    check_.unnamed_gaps += 1;
    violated(fmt::format("commits {} to {} have no record and are not named as missing", first, last));
  }

  void take(const wire::Record& record) {
    if (record.has_step()) {
      const wire::StepRecord& step = record.step();
      Told& told = runs_[step.run_id()];
      told.steps[step.commit_seq()] = step;
      ++told.times[step.commit_seq()];
      ++check_.steps_recorded;
    }
    if (record.has_records_missing()) {
      const wire::RecordsMissing& missing = record.records_missing();
      for (std::uint64_t i = 0; i < missing.steps(); ++i) {
        ++runs_[missing.run_id()].times[missing.first_commit_seq() + i];
      }
      ++check_.gaps_named;
      check_.steps_named += missing.steps();
      if (missing.steps() == 0 || missing.first_commit_seq() == 0) violated("a gap is named without its commits");
      if (!published_.skips) runs_[missing.run_id()].gaps.push_back(missing);
    }
  }

  /// A gap must reach from the recorded iteration before it to the recorded iteration after it.
  void check_named_iterations(const Told& told) {
    for (const wire::RecordsMissing& missing : told.gaps) {
      const std::uint64_t first = missing.first_commit_seq();
      const std::uint64_t last = first + missing.steps() - 1;
      const auto before = told.steps.find(first - 1);
      const auto after = told.steps.find(last + 1);
      bool right = missing.last_iteration() + 1 >= missing.first_iteration() + missing.steps();
      if (first == 1) right = right && missing.first_iteration() == 1;
      if (before != told.steps.end()) {
        right = right && missing.first_iteration() == before->second.iteration() + 1;
      }
      if (after != told.steps.end()) right = right && missing.last_iteration() + 1 == after->second.iteration();
      if (!right) {
        violated(fmt::format("commits {} to {} are named as iterations {} to {}", first, last,
                             missing.first_iteration(), missing.last_iteration()));
      }
    }
  }

  /// Every `every`-th iteration is published as a step. A producer that was asked to end also publishes the iteration
  /// that it has just done; a run that loses its parent is asked to end.
  void check_iterations(const Told& told) {
    const std::uint64_t every = published_.every;
    const wire::StepRecord* before = nullptr;
    for (const auto& [commit_seq, step] : told.steps) {
      if (!published_.skips && step.iteration() > commit_seq * every) {
        violated(fmt::format("commit {} is recorded as iteration {}", commit_seq, step.iteration()));
      }
      const bool follows = before != nullptr && before->commit_seq() + 1 == commit_seq;
      const bool same_attachment = follows && step.step() != 0 && before->step() + 1 == step.step();
      if (same_attachment && before->iteration() % every != 0) {
        violated(fmt::format("iteration {}, which is none of --every {}, is not the last before the next attachment",
                             before->iteration(), every));
      }
      // A step's record has the number of steps that were skipped before it, in the same attachment.
      if (same_attachment || (follows && !published_.skips)) {
        const std::uint64_t skipped = same_attachment ? every * step.skipped_before() : 0;
        const std::uint64_t due = next_due(before->iteration(), every) + skipped;
        if (step.iteration() <= before->iteration() + skipped || step.iteration() > due) {
          violated(fmt::format("iteration {} follows {}, and {} were skipped", step.iteration(), before->iteration(),
                               step.skipped_before()));
        }
      }
      before = &step;
    }
  }

  void compare(const wire::StepRecord& recorded, const RecordedStep& kept) {
    ++check_.records_compared;
    const StepFigures& figures = kept.figures;
    if (recorded.iteration() != figures.step.iteration || recorded.step() != figures.step.step) {
      violated(fmt::format("commit {} is iteration {} in the ring and {} in the journal", figures.commit_seq,
                           figures.step.iteration, recorded.iteration()));
    }
    const StepResults results = names_.results(recorded);
    if (!results.layout() || !kept.results.layout()) {
      violated(fmt::format("the results of commit {} have no names", figures.commit_seq));
      return;
    }
    for (const RecordedResult& one : results.layout()->results()) {
      const StepValue in_journal = results.value_of(one);
      const StepValue in_ring = kept.results.find(one.result->full_name);
      // A process may be killed between a commit and its reductions.
      if (!in_journal.present || !in_ring.present || in_journal == in_ring) continue;
      violated(fmt::format("{} of commit {} is {} in the journal and {} in the ring", one.result->full_name,
                           figures.commit_seq, to_text(in_journal), to_text(in_ring)));
    }
  }

  std::string pool_;
  ResultNames names_;
  Published published_;
  JournalCheck check_;
  std::uint64_t oldest_seq_ = 0;
  std::map<std::string, Told> runs_;
  Follower::Seen by_seq_;
};

}  // namespace

JournalCheck check_journal_at_rest(const std::string& pool, const Published& published, bool complete,
                                   const Follower::Seen& seen) {
  Check check(pool, published);
  check.read();
  check.check_commits();
  check.check_ring(complete);
  check.check_seen(seen);
  return check.result();
}

}  // namespace ringside::testing
