// SPDX-License-Identifier: BSD-3-Clause
// The bytes are written from the last one to the first: the length of a message precedes its fields, and is then known
// when it is written. So the calls are in descending order of the field numbers.
#include "analyzer/recorder/step_encoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/kernels/id_bytes.hpp"
#include "proto/ringside.pb.h"

namespace ringside {
namespace {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };

/// Writes towards lower addresses. The caller provides enough room.
class BackwardWriter {
 public:
  explicit BackwardWriter(char* end) noexcept : at_(end) {}
  const char* at() const noexcept { return at_; }

  void varint(std::uint64_t value) noexcept {
    char* to = at_ -= (std::bit_width(value | 1) + 6) / 7;
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
    *to = static_cast<char>(value);
  }
  void bytes(const void* from, std::size_t count) noexcept {
    at_ -= count;
    if (count > 0) std::memcpy(at_, from, count);
  }
  void tag(int field, WireType type) noexcept {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }

  /// A number or a flag; proto3 omits a value of 0.
  void figure(int field, std::uint64_t value) noexcept {
    if (value == 0) return;
    varint(value);
    tag(field, WireType::kVarint);
  }
  void figure(int field, std::int64_t value) noexcept { figure(field, static_cast<std::uint64_t>(value)); }
  /// Ends a message, text or packed numbers whose content ends before `end`.
  void head(int field, const char* end) noexcept {
    varint(static_cast<std::uint64_t>(end - at_));
    tag(field, WireType::kBytes);
  }
  /// 64-bit words, packed; omitted if there are none.
  void words(int field, std::span<const std::uint64_t> words) noexcept {
    if (words.empty()) return;
    const char* end = at_;
    bytes(words.data(), words.size_bytes());
    head(field, end);
  }

 private:
  char* at_;
};

void write_results(BackwardWriter& to, const RecordLayout& layout, std::span<const std::uint64_t> values) noexcept {
  using Results = wire::Results;
  const ColumnCounts& counts = layout.counts();
  if (const std::uint64_t catalogue = layout.hash(); catalogue != 0) {
    to.bytes(&catalogue, sizeof catalogue);
    to.tag(Results::kCatalogueFieldNumber, WireType::kFixed64);
  }
  const auto absent = values.first(counts.absence_words());
  if (std::ranges::any_of(absent, [](std::uint64_t word) { return word != 0; })) {
    const char* end = to.at();
    to.bytes(absent.data(), (counts.values() + 7) / 8);  // the lowest bit first
    to.head(Results::kAbsentFieldNumber, end);
  }
  const auto columns = values.subspan(absent.size());
  to.words(Results::kI128FieldNumber, columns.subspan(counts.f64 + counts.i64, 2 * counts.i128));
  if (counts.i64 > 0) {
    const char* end = to.at();
    for (std::size_t i = counts.f64 + counts.i64; i-- > counts.f64;) {
      to.varint(columns[i] << 1 ^ (0 - (columns[i] >> 63)));  // zigzag, because the field is a sint64
    }
    to.head(Results::kI64FieldNumber, end);
  }
  to.words(Results::kF64FieldNumber, columns.first(counts.f64));
}

void write_figures(BackwardWriter& to, const StepFigures& figures) noexcept {
  using Step = wire::StepRecord;
  to.figure(Step::kStepsPersistedFieldNumber, figures.steps_persisted);
  to.figure(Step::kStepsCommittedFieldNumber, figures.steps_committed);
  to.figure(Step::kBytesTransferredFieldNumber, figures.bytes_transferred);
  to.figure(Step::kAnalyzeNsFieldNumber, figures.analyze_ns);
  to.figure(Step::kCommitNsFieldNumber, figures.commit_ns);
  to.figure(Step::kTransferNsFieldNumber, figures.transfer_ns);
  to.figure(Step::kHandOffNsFieldNumber, figures.hand_off_ns);
  to.figure(Step::kAnalyzerIdleNsFieldNumber, figures.analyzer_idle_ns);
  to.figure(Step::kProducerIdleNsFieldNumber, figures.step.producer_idle_ns);
  to.figure(Step::kGenerateNsFieldNumber, figures.step.generate_ns);
  to.figure(Step::kPublishedAtNsFieldNumber, figures.step.published_at_ns);
  to.figure(Step::kCommitSeqFieldNumber, figures.commit_seq);
  to.figure(Step::kIterationFieldNumber, figures.step.iteration);
  to.figure(Step::kStepFieldNumber, figures.step.step);
}

}  // namespace

std::string_view StepEncoder::encode(std::uint64_t seq, std::int64_t unix_ns, const StepFigures& figures,
                                     const RecordLayout& layout, std::span<const std::uint64_t> values) {
  using Step = wire::StepRecord;
  constexpr std::size_t kFigureBytes = 512;  // an upper limit of all fields but the values, with their tags and lengths
  const std::size_t most_bytes = kFigureBytes + 10 * layout.words();  // 10: the longest varint
  if (buffer_.size() < most_bytes) buffer_.resize(most_bytes);
  const char* end = buffer_.data() + buffer_.size();
  BackwardWriter to(buffer_.data() + buffer_.size());
  to.figure(Step::kRecordNsFieldNumber, figures.record_ns);
  to.figure(Step::kGuardedCommitSeqFieldNumber, figures.guarded_commit_seq);
  to.figure(Step::kBrokeLeaseFieldNumber, std::uint64_t{figures.broke_lease});
  const char* end_of_results = to.at();
  write_results(to, layout, values);
  to.head(Step::kResultsFieldNumber, end_of_results);
  to.figure(Step::kRebuiltFieldNumber, std::uint64_t{figures.rebuilt});
  to.figure(Step::kSkippedBeforeFieldNumber, figures.step.skipped_before);
  write_figures(to, figures);
  unsigned char run_id[kIdBytes];
  put_id(run_id, figures.run_id);
  const char* end_of_id = to.at();
  to.bytes(run_id, sizeof run_id);
  to.head(Step::kRunIdFieldNumber, end_of_id);
  to.head(wire::Record::kStepFieldNumber, end);
  to.figure(wire::Record::kUnixNsFieldNumber, unix_ns);
  to.figure(wire::Record::kSeqFieldNumber, seq);
  return {to.at(), static_cast<std::size_t>(end - to.at())};
}

}  // namespace ringside
