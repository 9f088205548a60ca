// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/recorder.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <variant>

#include "analyzer/journal/journal.hpp"
#include "analyzer/journal/journal_rebuild.hpp"
#include "analyzer/recorder/answered_requests.hpp"
#include "analyzer/recorder/described_runs.hpp"
#include "analyzer/recorder/mark_records.hpp"
#include "analyzer/recorder/record_history.hpp"
#include "analyzer/recorder/run_status.hpp"
#include "analyzer/recorder/step_encoder.hpp"
#include "analyzer/recorder/telemetry.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/thread.hpp"
#include "common/platform/version.hpp"
#include "common/program/log.hpp"
#include "common/records/analysis_results.hpp"
#include "common/records/record_message.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kTurnNs = 10'000'000;
constexpr int kTurnsABeat = 10;
constexpr std::size_t kMostInAMessage = 512;  // records; about 200 KB in a run with one variable
// The limit of the records in a message, so that the whole message is below 1 MiB.
constexpr std::size_t kMessageBytes = 1000u << 10;

std::uint64_t draw_id() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random() | 1;  // never 0
}

wire::ControlReply refused(const std::string& why, bool may_ask_again = false) {
  wire::ControlReply reply;
  reply.mutable_refused()->set_why(why);
  reply.mutable_refused()->set_may_ask_again(may_ask_again);
  return reply;
}

/// The reply that refuses these results; empty if they belong to the run that is being served.
std::optional<wire::ControlReply> refusal_of(const wire::RecordAnalysis& request, const RunStatus& status) {
  for (const wire::AnalysisResults& results : request.results()) {
    if (const std::string problem = problem_of(results); !problem.empty()) return refused(problem);
    if (!status.attached()) {
      // If the run has not attached yet, the client may ask again, because the run may still attach, even to a lost
      // analyzer's successor. An ended run does not attach again.
      return refused("no run is being served", results.run_id() != status.run_id());
    }
    if (results.run_id() != status.run_id()) {
      return refused("the results belong to another run than the one being served");
    }
  }
  return std::nullopt;
}

std::int64_t half_of(double seconds) noexcept {
  return static_cast<std::int64_t>(seconds * 0.5e9);
}

}  // namespace

/// Only the worker's thread uses these members, except the queue and the members whose comment names another thread.
class Recorder::Worker : private RecordSink {
 public:
  Worker(const RecorderOptions& options, std::atomic<bool>& stop_run)
      : options_(options),
        stop_run_(stop_run),
        pool_path_(std::filesystem::absolute(options.pool).string()),
        queue_(std::min(RecordQueue::kPatienceNs, half_of(options.peer_timeout_s)),
               std::min(RecordQueue::kBusyPatienceNs, half_of(options.peer_timeout_s))),
        history_(options.journal.kind == JournalKind::kOff ? std::string() : options.pool) {
    if (options.journal.kind != JournalKind::kOff) numbering_.set_journal_pool(pool_path_);
    std::promise<void> listening;
    std::future<void> listens = listening.get_future();
    thread_ = std::jthread([this, &listening](const std::stop_token& stopping) { run(listening, stopping); });
    listens.get();  // throws the Error of the thread's set-up
  }

  ~Worker() override = default;  // stops the thread and joins it

  RecordQueue& queue() noexcept { return queue_; }

  // Main thread.
  void begin_run(const RunToRecord& run) {
    queue_.begin_run(run.layout->words());
    wire::Record event;
    *event.mutable_run_started() = run.started;
    {
      const std::lock_guard lock(begun_mutex_);
      begun_ = run;
    }
    queue_.push_event(std::move(event));
  }

  // Main thread.
  void end_run(const wire::RunEnded& ended) {
    std::promise<void> done;
    std::future<void> is_done = done.get_future();
    {
      const std::lock_guard lock(begun_mutex_);
      ended_ = std::move(done);
    }
    wire::Record event;
    *event.mutable_run_ended() = ended;
    queue_.push_event(std::move(event));
    is_done.get();
  }

 private:
  void run(std::promise<void>& listening, const std::stop_token& stopping) {
    try {
      pthread_setname_np(pthread_self(), "recorder");  // the name in `top -H`; the threads that it starts inherit it
      bind_calling_thread(options_.cpus);              // if this fails, the thread runs elsewhere: slower, but correct
      lower_thread_priority();                         // ZeroMQ's and the journal's threads inherit it
      queue_.begin_reading();
      if (options_.telemetry.on) telemetry_.emplace(options_.telemetry, options_.socket);
      newest_ = history_.newest_seq();
      listening.set_value();
    } catch (...) {
      listening.set_exception(std::current_exception());
      return;
    }
    for (int turn = 0;; ++turn) {
      const bool last = stopping.stop_requested();
      const std::uint32_t calls = queue_.calls();
      take_turn(last || turn % kTurnsABeat == 0);
      if (last) return;
      queue_.sleep(calls, kTurnNs);
    }
  }

  void take_turn(bool beats) {
    queue_.pop(*this);
    write_and_publish();
    if (telemetry_) {
      if (beats) publish_beat();
      telemetry_->answer(
          [this](const wire::ControlRequest& request, bool is_here) { return reply_to(request, is_here); });
    }
    history_.forget_files_if_unused();
  }

  // --- items from the queue ---

  void take(const StepFigures& figures, std::span<const std::uint64_t> values, const StepMarks& marks) override {
    if (batch_.empty()) written_ns_ = realtime_ns();  // one time for the steps that are written together
    const std::string_view encoded = encoder_.encode(next_seq(), written_ns_, figures, *layout_, values);
    run_status_.add(figures, values);
    if (batch_.add({newest_, encoded})) {
      if (journal_) described_.add_step(figures.run_id, layout_->hash(), newest_);
    } else {
      --newest_;  // cannot happen: the number of results is bounded
    }
    write_full_batch();
    if (!marks.any()) return;
    for (wire::Record& mark : mark_records(marks, figures, triggers_)) {
      run_status_.add(mark.mark());
      add_record(mark);
    }
  }

  void take(const MissingSteps& missing) override {
    records_missing_ += missing.steps;
    wire::Record record;
    fill(*record.mutable_records_missing(), missing);
    add_record(record);
    const std::string which = missing.first_iteration == 0
                                  ? fmt::format("from step {} on", missing.first_step)
                                  : fmt::format("iterations {} to {}", missing.first_iteration, missing.last_iteration);
    log_warning(
        "event=records_missing run_id={} first_step={} steps={} first_iteration={} last_iteration={} "
        "text=\"committed steps without a record: {} ({}); tail, serve and report do not show them\"",
        to_string(missing.run_id), missing.first_step, missing.steps, missing.first_iteration, missing.last_iteration,
        missing.steps, which);
  }

  void take(wire::Record event) override {
    if (event.has_run_started()) {
      open_journal();
      run_status_.begin(event.run_started(), layout_);
    }
    if (event.has_run_ended()) run_status_.end(event.run_ended());
    add_record(event);
    if (event.has_run_ended()) close_journal();
  }

  /// Numbers `record`, and adds it to the records to be written.
  void add_record(wire::Record& record) {
    written_ns_ = realtime_ns();  // not before the time at which the main thread made the event
    record.set_seq(next_seq());
    record.set_unix_ns(written_ns_);
    if (batch_.add(record)) {
      if (journal_) described_.add(record);
    } else {
      --newest_;  // cannot happen: a run's texts and its number of results are bounded
    }
    write_full_batch();
  }

  std::uint64_t next_seq() {
    if (numbering_.first_seq() == 0) numbering_.set_first_seq(newest_ + 1);
    return ++newest_;
  }

  void write_full_batch() {
    if (batch_.size() == kMostInAMessage || batch_.bytes() >= most_batch_bytes_) write_and_publish();
  }

  /// Writes to the journal first. So the journal has every record that a client received live, whichever process is
  /// killed.
  void write_and_publish() {
    if (batch_.empty()) return;
    write_batch();
    if (!journal_) return;
    // If these appends have begun a new log, the older log still has the descriptions that the new log lacks.
    for (const wire::RunDescribed& run : described_.lacking()) add_description(run);
    if (!batch_.empty()) write_batch();
  }

  void add_description(const wire::RunDescribed& run) {
    wire::Record record;
    *record.mutable_run_described() = run;
    add_record(record);
  }

  void write_batch() {
    const std::span<const EncodedRecord> records = batch_.records();
    if (journal_) {
      const int error = journal_->append(records);
      described_.appended(journal_->first_seq_of_log());
      if (error != 0) give_up_journal(errno_text(error));
    }
    if (telemetry_) {
      for (const EncodedRecord& record : records) history_.keep(record.seq, record.bytes);
      wire::Records rest;  // encoded messages may be concatenated
      *rest.mutable_numbering() = numbering_;
      rest.AppendToString(&batch_.message());
      telemetry_->publish("records", batch_.message());
    }
    batch_.clear();
  }

  void publish_beat() {
    wire::Beat beat;
    beat.set_newest_seq(newest_);
    *beat.mutable_numbering() = numbering_;
    telemetry_->publish("beat", beat.SerializeAsString());
  }

  // --- the journal ---

  /// The limit of a batch without its last record. With this limit, one append begins at most one log, so that the
  /// previous log still has the descriptions.
  static std::size_t most_batch_bytes(std::uint64_t log_bytes) {
    return std::min<std::uint64_t>(kMessageBytes - kMaxRecordBytes, log_bytes / 4);
  }

  CatchUp catch_up_journal(const RunToRecord& run) {
    described_.clear();
    CatchUp lacking = catch_up(options_.pool, run.kept_steps, run.started, run.last_iteration,
                               [this](const wire::Record& record) { described_.add(record); });
    described_.appended(journal_->first_seq_of_log());
    for (const KnownRun& known : run.described_runs) described_.know(bytes_of(known.run_id), known.layout);
    for (const auto& what : lacking) {
      const auto* step = std::get_if<RecordedStep>(&what);
      if (step == nullptr || !step->results.layout()) continue;
      described_.know(bytes_of(step->figures.run_id), step->results.layout());
      described_.expect(bytes_of(step->figures.run_id), step->results.layout()->hash(), newest_ + 1);
    }
    return lacking;
  }

  void open_journal() {
    write_and_publish();
    RunToRecord run;
    {
      const std::lock_guard lock(begun_mutex_);
      run = std::exchange(begun_, {});
    }
    layout_ = run.layout;
    triggers_ = run.triggers;
    CatchUp lacking;
    journal_error_.clear();
    if (options_.journal.kind != JournalKind::kOff) {
      try {
        journal_.emplace(Journal::open(options_.pool, options_.journal, run.storage, options_.durability));
        history_.forget_files();
        most_batch_bytes_ = most_batch_bytes(journal_->log_capacity_bytes());
        number_after(journal_->newest_seq());
        lacking = catch_up_journal(run);
      } catch (const std::exception& error) {
        give_up_journal(error.what());
      }
    }
    if (!std::exchange(start_recorded_, true)) {
      wire::Record record;
      wire::AnalyzerStarted& started = *record.mutable_analyzer_started();
      started.set_version(version());
      started.set_pid(static_cast<std::uint32_t>(getpid()));
      started.set_rebuilt(static_cast<std::uint64_t>(
          std::ranges::count_if(lacking, [](const auto& what) { return std::holds_alternative<RecordedStep>(what); })));
      add_record(record);
    }
    if (journal_) {
      for (const wire::RunDescribed& described : described_.lacking()) add_description(described);
    }
    for (const auto& what : lacking) {
      if (const auto* missing = std::get_if<MissingSteps>(&what)) {
        take(*missing);
      } else {
        wire::Record record;
        fill(*record.mutable_step(), std::get<RecordedStep>(what));
        add_record(record);
      }
    }
  }

  /// The numbers in the journal determine the next number, because since the last run another analyzer may have written
  /// to the journal, or a user may have wiped it. After a wipe, the same numbers are used again, with another
  /// analyzer_id.
  void number_after(std::uint64_t newest_in_journal) {
    if (newest_in_journal < newest_) {
      numbering_.set_analyzer_id(draw_id());
      numbering_.set_first_seq(0);
    }
    newest_ = newest_in_journal;
  }

  void close_journal() {
    write_and_publish();
    if (journal_) {
      if (const int error = journal_->sync(); error != 0) give_up_journal(errno_text(error));
    }
    journal_.reset();
    std::optional<std::promise<void>> ended;
    {
      const std::lock_guard lock(begun_mutex_);
      ended = std::exchange(ended_, std::nullopt);
    }
    if (ended) ended->set_value();
  }

  void give_up_journal(const std::string& why) {
    journal_.reset();
    journal_error_ = why;
    log_error("event=journal_given_up pool={} text=\"{}\"", options_.pool, why);
  }

  // --- requests ---

  std::string reply_to(const wire::ControlRequest& request, bool is_here) {
    switch (request.what_case()) {
      case wire::ControlRequest::kRecordsFrom: return records_from(request.records_from());
      case wire::ControlRequest::kStatus: return status().SerializeAsString();
      case wire::ControlRequest::kStop: return stop().SerializeAsString();
      case wire::ControlRequest::kRecordAnalysis:
        if (!is_here) return refused("results of analyses are accepted from this machine only").SerializeAsString();
        return record(request.record_analysis()).SerializeAsString();
      case wire::ControlRequest::WHAT_NOT_SET: break;
    }
    return refused("unknown request; expected records_from, status, stop or record_analysis").SerializeAsString();
  }

  /// Takes a client's results of recorded steps. They are in the journal before the reply is sent.
  wire::ControlReply record(const wire::RecordAnalysis& request) {
    wire::ControlReply reply;
    wire::AnalysisRecorded& recorded = *reply.mutable_analysis_recorded();
    recorded.set_request(request.request());
    if (const std::optional<std::uint32_t> taken = answered_.taken_of(request)) {
      recorded.set_taken(*taken);
      return reply;
    }
    if (std::optional<wire::ControlReply> refusal = refusal_of(request, run_status_)) return *refusal;
    for (const wire::AnalysisResults& results : request.results()) {
      if (results.commit_seq() > run_status_.last_commit_seq()) break;
      wire::Record record;
      *record.mutable_analysis_results() = results;
      add_record(record);
      recorded.set_taken(recorded.taken() + 1);
    }
    write_and_publish();
    answered_.add(request, recorded.taken());
    return reply;
  }

  /// Encodes a ControlReply, whose field 1 is a RecordsReply. This is done by hand, because the records in it are
  /// already encoded.
  std::string records_from(const wire::RecordsFrom& request) {
    std::string records;
    const std::size_t at_most = request.at_most() == 0 ? newest_ : request.at_most();
    history_.append(request.seq(), at_most, kMessageBytes, records);
    wire::RecordsReply rest;
    rest.set_oldest_seq(oldest());
    rest.set_newest_seq(newest_);
    *rest.mutable_numbering() = numbering_;
    rest.AppendToString(&records);
    std::string reply;
    append_record_field(reply, records);
    return reply;
  }

  std::uint64_t oldest() {
    return journal_ && journal_->oldest_seq() != 0 ? journal_->oldest_seq() : history_.oldest_seq();
  }

  wire::ControlReply status() {
    wire::ControlReply reply;
    wire::Status& status = *reply.mutable_status();
    run_status_.describe(status);
    status.set_version(version());
    status.set_pid(static_cast<std::uint32_t>(getpid()));
    status.set_analyzer_id(numbering_.analyzer_id());
    status.set_pool(utf8_text(pool_path_));
    status.set_journal(std::string(to_string(journal_ ? journal_->kind() : options_.journal.kind)));
    status.set_journal_error(utf8_text(journal_error_));
    status.set_oldest_seq(oldest());
    status.set_newest_seq(newest_);
    status.set_records_missing(records_missing_);
    return reply;
  }

  wire::ControlReply stop() {
    if (!run_status_.attached()) return refused("no run is being served: there is nothing to stop");
    log_info("event=stop_requested");
    stop_run_.store(true, std::memory_order_relaxed);
    wire::ControlReply reply;
    reply.mutable_stopping();
    return reply;
  }

  const RecorderOptions options_;
  std::atomic<bool>& stop_run_;
  const std::string pool_path_;  // absolute, because other processes have other current folders
  RecordQueue queue_;

  std::mutex begun_mutex_;  // for the next two members, which the main thread sets and this thread takes
  RunToRecord begun_;
  std::optional<std::promise<void>> ended_;

  std::optional<Telemetry> telemetry_;
  std::optional<Journal> journal_;
  std::string journal_error_;
  RecordHistory history_;
  RunStatus run_status_;
  AnsweredRequests answered_;
  wire::Numbering numbering_ = [] {
    wire::Numbering numbering;
    numbering.set_analyzer_id(draw_id());
    return numbering;
  }();
  std::uint64_t newest_ = 0;
  std::int64_t written_ns_ = 0;  // the time of the newest record
  std::uint64_t records_missing_ = 0;
  bool start_recorded_ = false;

  SharedLayout layout_;      // the layout of the run's steps
  std::vector<TriggerSpec> triggers_;
  DescribedRuns described_;  // the runs that the journal describes
  std::size_t most_batch_bytes_ = kMessageBytes - kMaxRecordBytes;

  // Kept between steps to reuse their memory.
  StepEncoder encoder_;
  RecordBatch batch_;

  std::jthread thread_;  // last member, because it uses all members above
};

Recorder::Recorder(const RecorderOptions& options, std::atomic<bool>& stop_run)
    : worker_(std::make_unique<Worker>(options, stop_run)) {}
Recorder::~Recorder() = default;

RecordQueue& Recorder::queue() noexcept {
  return worker_->queue();
}

void Recorder::begin_run(const RunToRecord& run) {
  worker_->begin_run(run);
}

void Recorder::end_run(const wire::RunEnded& ended) {
  worker_->end_run(ended);
}

}  // namespace ringside
