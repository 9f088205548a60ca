// The analyzer's main loop: wait for a step, copy it into the ring, release the producer's buffer, commit, reduce, account.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "analyzer/account.hpp"
#include "analyzer/ring_pool.hpp"
#include "analyzer/ring_writer.hpp"
#include "common/error.hpp"
#include "common/handoff_reader.hpp"
#include "common/options.hpp"
#include "common/reduction.hpp"

namespace ringside {

struct AnalyzerOptions {
  RingOptions ring;
  ReduceOptions reduce;
  bool may_spin = true;  // while it waits; false where producer and analyzer share a core
};

/// How serving one producer ended.
enum class ServeEnd { kDetached, kProducerLost, kStopped, kSyncFailed };

/// One attachment: from consent to farewell.
class Attachment {
 public:
  /// Finds the ring for the run, and says yes or no to the producer. Throws the Error the producer was refused with.
  Attachment(HandoffReader& handoff, const AnalyzerOptions& options, std::uint64_t epoch, AnalyzerAccount& account);

  /// Serves steps until the producer leaves or is lost, `stop` is set, or the disk fails. What was published is committed
  /// in every case but the last.
  ServeEnd serve(const std::atomic<bool>& stop) noexcept;

  /// Waits until everything is persisted (where asked for) and tells the producer how it went. kDone, or kSystem when the
  /// disk failed; `message` then is the line for the user.
  ExitCode finish(std::string& message);

  const RingPool& pool() const noexcept { return pool_; }
  const std::optional<Reductions>& last() const noexcept { return last_; }

 private:
  bool keep(const PublishedStep& step, std::int64_t arrived_ns) noexcept;
  void count_persisted() noexcept;

  HandoffReader& handoff_;
  const AnalyzerOptions& options_;
  AnalyzerAccount& account_;
  RingPool pool_;
  RingWriter ring_;
  Reducer reducer_;
  std::optional<Reductions> last_;
};

}  // namespace ringside
