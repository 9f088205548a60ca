// SPDX-License-Identifier: BSD-3-Clause
// The receiving side of telemetry: records in order, each once, even if the publisher drops messages or another
// analyzer takes over (docs/use/live.md). `ringside tail` and `ringside serve` use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/messages/channel.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// The addresses of an analyzer's telemetry.
struct TelemetryAddress {
  std::string publisher;           // "ipc://…" or "tcp://HOST:PORT"
  std::string control;             // the same address with another name, or with PORT + 1
  std::optional<CurveKeys> curve;  // the keys, if tcp is used
};

/// The address of the analyzer that listens at `socket` (--socket).
TelemetryAddress telemetry_at(const std::string& socket);

/// The address of the analyzer with telemetry on "HOST:PORT": PORT for records, PORT + 1 for control. Throws Error
/// (exit code 2), whose text contains `option`.
TelemetryAddress telemetry_at_tcp(const std::string& host_and_port, const std::string& option, const CurveKeys& keys);

enum class StreamEvent {
  kNothing,      // nothing new arrived within the time
  kRecords,      // there are records
  kLost,         // the analyzer sent nothing for a second (returned once)
  kBack,         // the same analyzer sends again (returned once)
  kNewAnalyzer,  // another analyzer sends (returned once; the numbering continues)
  kNoLongerKept  // requested records are no longer available: `no_longer_kept`
};

/// A range of records' numbers, both ends included.
struct RecordRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The final position of a stream, for a reader that continues in the journal after the analyzer ended.
struct StreamEnd {
  std::uint64_t next_seq = 0;        // the number of the next record; 0: the oldest
  std::int64_t last_unix_ns = 0;     // the time of the record before that one; 0: none
  std::uint64_t newest_known = 0;    // number of the newest known record
  std::string journal_pool;          // the pool to which the journal belongs; empty: no journal, or unknown
  std::vector<wire::Record> beyond;  // ascending, all after `next_seq`, received live while record `next_seq` was
                                     // missing
};

enum class StopAnswer {
  kStopping,
  kRefused,  // no run is being served
  kNone      // no answer arrived in time
};

/// Only one thread may use it.
class RecordStream {
 public:
  /// from_seq: the first record wanted; 0: the oldest available one; kNoRecords: no records, only status() and stop().
  /// The constructor connects in the background.
  static constexpr std::uint64_t kNoRecords = ~std::uint64_t{0};
  RecordStream(ChannelContext& context, const TelemetryAddress& address, std::uint64_t from_seq);
  ~RecordStream();

  /// Waits up to timeout_ms. After every event, `records` contains the new records, in ascending order of seq, without
  /// duplicates and without gaps (except those that kNoLongerKept reports).
  StreamEvent next(std::vector<wire::Record>& records, int timeout_ms);

  /// The range of records that the last kNoLongerKept event reported.
  RecordRange no_longer_kept() const noexcept;

  /// Requests the analyzer's status; nothing if no answer arrives in time. Records received meanwhile are kept for
  /// `next`.
  std::optional<wire::Status> status(int timeout_ms);
  /// Requests that the analyzer end the run.
  StopAnswer stop(int timeout_ms);

  /// Whether a message of any analyzer has arrived so far.
  bool has_heard() const noexcept;

  /// The position after the records that the last call of `next` returned. Call it last.
  StreamEnd end();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
