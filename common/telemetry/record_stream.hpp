// The receiving side of telemetry: records in order, each once, whatever the publisher dropped on the way or whichever
// analyzer comes after another (docs/live.md). What `ringside tail` and `ringside serve` stand on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/handoff/channel.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Where an analyzer's telemetry is to be found.
struct TelemetryAddress {
  std::string publisher;           // "ipc://…", "tcp://HOST:PORT"
  std::string control;             // the same with another name, or PORT + 1
  std::optional<CurveKeys> curve;  // with tcp
};

/// Of the analyzer that listens at `socket` (--socket).
TelemetryAddress telemetry_at(const std::string& socket);

/// Of the analyzer that listens for telemetry on "HOST:PORT": PORT for records, PORT + 1 for control. Throws Error
/// (exit code 2) naming `option`.
TelemetryAddress telemetry_at_tcp(const std::string& host_and_port, const std::string& option, const CurveKeys& keys);

enum class StreamEvent {
  kNothing,      // the time is over, and there is nothing new
  kRecords,      // there are records
  kLost,         // the analyzer has not been heard of for a second (said once)
  kBack,         // it is there again, the same one (said once)
  kNewAnalyzer,  // another one is there (said once; the numbering goes on)
  kNoLongerKept  // records that were wanted cannot be had any more: `no_longer_kept`
};

/// Numbers of records, both included.
struct RecordRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// How far a stream came, for whoever reads on in the journal when nobody is left to ask.
struct StreamEnd {
  std::uint64_t next_seq = 0;        // the record to come next; 0: the oldest
  std::int64_t last_unix_ns = 0;     // of the one before it; 0: there was none
  std::uint64_t newest_known = 0;    // number of the newest record that was heard of
  std::string journal_pool;          // beside which the journal lies; empty: there is none, or it was not told
  std::vector<wire::Record> beyond;  // ascending, all behind `next_seq`: what came live while that was still missing
};

enum class StopAnswer {
  kStopping,
  kRefused,  // no run is being served
  kNone      // in time
};

/// Used by one thread.
class RecordStream {
 public:
  /// from_seq: the first record wanted; 0: the oldest that is kept; kNoRecords: only to ask. Connects in the
  /// background.
  static constexpr std::uint64_t kNoRecords = ~std::uint64_t{0};
  RecordStream(ChannelContext& context, const TelemetryAddress& address, std::uint64_t from_seq);
  ~RecordStream();

  /// Waits up to timeout_ms. Whatever it returns, `records` then holds what is new, in ascending order of seq, without
  /// gap or duplicate (but for what kNoLongerKept tells of).
  StreamEvent next(std::vector<wire::Record>& records, int timeout_ms);

  /// Which records it was that `next` last told of.
  RecordRange no_longer_kept() const noexcept;

  /// Asks the analyzer; nothing if it does not answer in time. Records that come meanwhile are kept for `next`.
  std::optional<wire::Status> status(int timeout_ms);
  /// Asks it to end the run.
  StopAnswer stop(int timeout_ms);

  /// An analyzer was heard of, ever.
  bool has_heard() const noexcept;

  /// Behind what `next` last handed out. To be called last.
  StreamEnd end();

  /// The newest record is in the hands of `next`'s caller: the past is over.
  bool caught_up() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
