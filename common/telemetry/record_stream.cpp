// SPDX-License-Identifier: BSD-3-Clause
#include "common/telemetry/record_stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kLostNs = 1'000'000'000;  // silence that counts as a loss; beats come ten times a second
constexpr std::int64_t kRetryNs = 500'000'000;   // after this time, a request or its answer counts as lost
constexpr std::size_t kMostAhead = 16384;        // the most records kept in advance while missing ones are fetched
constexpr std::size_t kMostAtOnce = 65536;       // the most records that one call returns
constexpr std::size_t kReplyBytes = 2u << 20;    // the largest reply of an analyzer: 1 MiB, plus framing

}  // namespace

TelemetryAddress telemetry_at(const std::string& socket) {
  return {ipc_endpoint(socket + ".telemetry"), ipc_endpoint(socket + ".control"), std::nullopt};
}

TelemetryAddress telemetry_at_tcp(const std::string& host_and_port, const std::string& option, const CurveKeys& keys) {
  const std::size_t colon = host_and_port.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    const std::uint64_t port = whole_number(std::string_view(host_and_port).substr(colon + 1)).value_or(0);
    if (port > 0 && port < 65535) {
      const std::string host = "tcp://" + host_and_port.substr(0, colon) + ":";
      return {host + std::to_string(port), host + std::to_string(port + 1), keys};
    }
  }
  throw usage_error("{}: found '{}', expected HOST:PORT with a port from 1 to 65534", option, host_and_port);
}

struct RecordStream::Implementation {
  Implementation(ChannelContext& context, const TelemetryAddress& address, std::uint64_t from_seq)
      : subscriber(context, ChannelKind::kSubscriber,
                   {.max_message_bytes = kReplyBytes, .name = {}, .curve = address.curve}),
        control(context, ChannelKind::kDealer, {.max_message_bytes = kReplyBytes, .name = {}, .curve = address.curve}),
        wanted(from_seq) {
    subscriber.connect(address.publisher);
    control.connect(address.control);
  }

  Channel subscriber;
  Channel control;
  std::uint64_t wanted;      // the number of the next record to hand out; 0: the oldest one, not known yet
  std::uint64_t newest = 0;  // the newest known number
  bool newest_known = false;
  std::int64_t last_unix_ns = 0;  // the time of the record before `wanted`, if that record was returned
  std::string journal_pool;
  std::vector<wire::Record> ready;
  std::map<std::uint64_t, wire::Record> ahead;  // records after `wanted`
  std::uint64_t analyzer_id = 0;
  std::int64_t heard_ns = now_ns();
  bool heard = false;  // whether any analyzer has sent a message so far
  bool lost = false;
  StreamEvent event = StreamEvent::kNothing;  // returned by the next call
  std::deque<RecordRange> skipped;            // returned after `event`
  RecordRange told;                           // the skipped range returned last
  std::int64_t asked_ns = 0;                  // 0: no request for records is pending
  std::uint64_t denied = 0;                   // the number that the last reply lacked although newer records exist
  std::optional<wire::ControlReply> answer;   // the answer to a request that is not for records
  std::vector<std::string> frames;

  bool request(const wire::ControlRequest& request) {
    const std::string bytes = request.SerializeAsString();
    return control.send(bytes);
  }

  /// Call it for each message of an analyzer, with the numbering in that message.
  void take(const wire::Numbering& numbering) {
    heard_ns = now_ns();
    if (numbering.analyzer_id() != analyzer_id) {
      if (analyzer_id != 0) event = StreamEvent::kNewAnalyzer;
      analyzer_id = numbering.analyzer_id();
      asked_ns = 0;
      denied = 0;
      ahead.clear();
      newest_known = false;
      go_back = true;
    } else if (lost) {
      event = StreamEvent::kBack;
      asked_ns = 0;
    }
    lost = false;
    heard = true;
    journal_pool = numbering.journal_pool();
    if (go_back && numbering.first_seq() != 0) {
      // Records that were already returned with these numbers came from another analyzer and are in no journal.
      if (wanted > numbering.first_seq() && handed_out) {
        wanted = numbering.first_seq();
        last_unix_ns = 0;
      }
      go_back = false;
    }
  }

  void take_newest(std::uint64_t seq) {
    newest = newest_known ? std::max(newest, seq) : seq;
    newest_known = true;
  }

  void hand_out(wire::Record&& record) {
    wanted = record.seq() + 1;
    last_unix_ns = record.unix_ns();
    handed_out = true;
    ready.push_back(std::move(record));
  }

  void hand_out_ahead() {
    ahead.erase(ahead.begin(), ahead.lower_bound(wanted));
    while (!ahead.empty() && ahead.begin()->first == wanted) {
      hand_out(std::move(ahead.begin()->second));
      ahead.erase(ahead.begin());
    }
  }

  void take_live(wire::Records& records) {
    take(records.numbering());
    for (wire::Record& record : *records.mutable_record()) {
      take_newest(record.seq());
      if (record.seq() == wanted) {
        hand_out(std::move(record));
      } else if (wanted == 0 || record.seq() > wanted) {
        if (ahead.size() < kMostAhead) ahead.emplace(record.seq(), std::move(record));
      }
    }
    hand_out_ahead();
  }

  /// Continues at `seq`, because the records before it are no longer available.
  void continue_at(std::uint64_t seq) {
    if (wanted != 0) skipped.push_back({wanted, seq - 1});
    wanted = seq;
    last_unix_ns = 0;
  }

  /// A gap: the reply lacks the wanted record although newer ones exist, because the journal is damaged or its files
  /// cannot be read. Two consecutive replies confirm the gap; a single one may answer an earlier request.
  void check_for_gap(const wire::RecordsReply& reply) {
    const bool empty = reply.record().empty();
    if (empty ? wanted > newest : reply.record(0).seq() <= wanted) {
      denied = 0;
      return;
    }
    if (empty) asked_ns = now_ns();  // delays the next request, which would get the same reply
    if (std::exchange(denied, wanted) != wanted) return;
    if (!empty) {
      continue_at(reply.record(0).seq());
    } else if (!ahead.empty() && ahead.rbegin()->first > wanted) {
      continue_at(ahead.upper_bound(wanted)->first);
    }
  }

  void take_reply(wire::RecordsReply& reply) {
    asked_ns = 0;
    take(reply.numbering());
    take_newest(reply.newest_seq());
    // If older records are no longer kept, the stream begins at the oldest.
    if (wanted < reply.oldest_seq()) continue_at(reply.oldest_seq());
    if (wanted == 0) wanted = reply.newest_seq() + 1;
    check_for_gap(reply);
    for (wire::Record& record : *reply.mutable_record()) {
      if (record.seq() == wanted) hand_out(std::move(record));
    }
    hand_out_ahead();
  }

  void take_published() {
    while (ready.size() < kMostAtOnce && subscriber.receive(frames)) {
      if (frames.size() != 2) continue;
      if (frames[0] == "beat") {
        wire::Beat beat;
        if (!beat.ParseFromString(frames[1])) continue;
        take(beat.numbering());
        take_newest(beat.newest_seq());
      } else if (frames[0] == "records") {
        wire::Records records;
        if (records.ParseFromString(frames[1])) take_live(records);
      }
    }
  }

  void take_answers() {
    while (ready.size() < kMostAtOnce && control.receive(frames)) {
      wire::ControlReply reply;
      if (frames.size() != 1 || !reply.ParseFromString(frames[0])) continue;
      if (reply.has_records()) {
        take_reply(*reply.mutable_records());
      } else {
        answer = std::move(reply);
      }
    }
  }

  bool behind() const { return !newest_known || wanted == 0 || wanted <= newest; }

  /// Sends a request only while the analyzer is alive, because otherwise requests would accumulate for its successor.
  void ask_for_missing() {
    const std::int64_t now = now_ns();
    if (!heard || lost || !behind() || (asked_ns != 0 && now - asked_ns < kRetryNs)) return;
    wire::ControlRequest wish;
    wish.mutable_records_from()->set_seq(wanted);
    if (request(wish)) asked_ns = now;
  }

  /// Waits up to timeout_ms for messages, processes them, and requests missing records.
  void turn(int timeout_ms) {
    const std::array<Channel*, 2> channels = {&subscriber, &control};
    Channel::wait(channels, timeout_ms);
    // The order matters: messages that a dead analyzer published are older than the replies of its successor.
    take_published();
    take_answers();
    if (!lost && now_ns() - heard_ns > kLostNs) {
      lost = true;
      event = StreamEvent::kLost;
      asked_ns = 0;
    }
    ask_for_missing();
  }

  std::optional<wire::ControlReply> ask(const wire::ControlRequest& wish, int timeout_ms) {
    const std::int64_t until = now_ns() + std::int64_t{timeout_ms} * 1'000'000;
    answer.reset();
    bool asked = false;
    for (std::int64_t now = now_ns(); now < until && !answer; now = now_ns()) {
      if (!asked && heard && !lost) asked = request(wish);
      turn(static_cast<int>(std::min<std::int64_t>((until - now) / 1'000'000 + 1, 20)));
    }
    return std::exchange(answer, std::nullopt);
  }

  bool handed_out = false;  // whether any record has been returned so far
  bool go_back = true;      // whether first_seq of this analyzer must still be checked
};

RecordStream::RecordStream(ChannelContext& context, const TelemetryAddress& address, std::uint64_t from_seq)
    : implementation_(std::make_unique<Implementation>(context, address, from_seq)) {}
RecordStream::~RecordStream() = default;

StreamEvent RecordStream::next(std::vector<wire::Record>& records, int timeout_ms) {
  Implementation& stream = *implementation_;
  const std::int64_t until = now_ns() + std::int64_t{timeout_ms} * 1'000'000;
  for (;;) {
    const std::int64_t left_ms = std::max<std::int64_t>((until - now_ns() + 999'999) / 1'000'000, 0);
    const auto has_something = [&stream] {
      return !stream.ready.empty() || !stream.skipped.empty() || stream.event != StreamEvent::kNothing;
    };
    // Waits in slices, to repeat a lost request or detect the loss of the analyzer.
    stream.turn(has_something() ? 0 : static_cast<int>(std::min<std::int64_t>(left_ms, 100)));
    if (has_something() || left_ms == 0) break;
  }
  records = std::exchange(stream.ready, {});
  const StreamEvent said = std::exchange(stream.event, StreamEvent::kNothing);
  if (said != StreamEvent::kNothing) return said;
  if (!stream.skipped.empty()) {
    stream.told = stream.skipped.front();
    stream.skipped.pop_front();
    return StreamEvent::kNoLongerKept;
  }
  return records.empty() ? StreamEvent::kNothing : StreamEvent::kRecords;
}

std::optional<wire::Status> RecordStream::status(int timeout_ms) {
  wire::ControlRequest wish;
  wish.mutable_status();
  const std::optional<wire::ControlReply> reply = implementation_->ask(wish, timeout_ms);
  return reply && reply->has_status() ? std::optional(reply->status()) : std::nullopt;
}

StopAnswer RecordStream::stop(int timeout_ms) {
  wire::ControlRequest wish;
  wish.mutable_stop();
  const std::optional<wire::ControlReply> reply = implementation_->ask(wish, timeout_ms);
  if (!reply) return StopAnswer::kNone;
  return reply->has_stopping() ? StopAnswer::kStopping : StopAnswer::kRefused;
}

RecordRange RecordStream::no_longer_kept() const noexcept {
  return implementation_->told;
}

bool RecordStream::has_heard() const noexcept {
  return implementation_->heard;
}

StreamEnd RecordStream::end() {
  Implementation& stream = *implementation_;
  StreamEnd end{stream.wanted, stream.last_unix_ns, stream.newest_known ? stream.newest : 0, stream.journal_pool, {}};
  for (auto& [seq, record] : stream.ahead) end.beyond.push_back(std::move(record));
  stream.ahead.clear();
  return end;
}

}  // namespace ringside
