// SPDX-License-Identifier: BSD-3-Clause
// How much time does keeping a record take? The program appends real encoded step records to the journal, in the
// batches that the recorder makes, with plain files and with libpmemlog. When an append returns, its records survive
// the death of any process; nothing is synced (--durability process). More records are appended than fit into the
// journal, so that the figures include emptying the logs in turn. The time to read a full journal is also measured.
#include "analyzer/journal/journal.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/journal/journal_storage.hpp"
#include "analyzer/journal/journal_wipe.hpp"
#include "bench/programs/bench_program.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/records/record_layout.hpp"
#include "common/records/record_message.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/reductions/reduction_words.hpp"
#include "proto/ringside.pb.h"

namespace ringside::bench {
namespace {

constexpr std::size_t kDistinct = 4096;  // records that are encoded before, so that encoding is not measured

Reductions made_reductions(double x) {
  Reductions reductions;
  reductions.sum = reductions.l1 = 1;
  reductions.mean = x;
  reductions.min = x / 2;
  reductions.max = std::sqrt(x);
  reductions.l2 = x / 5;
  reductions.linf = x / 7;
  reductions.has_change = 1;
  reductions.change_l1 = x / 9;
  reductions.change_l2 = x / 11;
  reductions.change_linf = x / 13;
  return reductions;
}

/// Records like those of a run: all different, with every field set.
std::vector<std::string> encoded_records() {
  std::vector<std::string> encoded;
  wire::Record record;
  StepFigures figures;
  figures.run_id = random_id();
  const RecordLayout layout(Schema::x_only(1'000'000), x_only_catalogue(1'000'000));
  std::vector<std::uint64_t> results(kXOnlyWords);
  std::vector<std::uint64_t> values(layout.words());
  for (std::uint64_t k = 1; k <= kDistinct; ++k) {
    const double x = 1.0 / static_cast<double>(k);
    const auto ns = static_cast<std::int64_t>(1'000'000 + k * 7919 % 100'000);
    figures.step = {.step = 1'000'000 + k,
                    .iteration = 1'000'001 + k,
                    .generate_ns = ns,
                    .producer_idle_ns = ns / 7,
                    .published_at_ns = now_ns()};
    StepWithScalars step;
    step.descriptor.residual_l1 = x;
    step.descriptor.residual_linf = x / 3;
    figures.commit_seq = figures.steps_committed = figures.steps_persisted = 1'000'000 + k;
    figures.analyzer_idle_ns = ns / 2;
    figures.hand_off_ns = ns / 100;
    figures.transfer_ns = ns / 10;
    figures.commit_ns = ns / 1000;
    figures.analyze_ns = ns / 5;
    figures.bytes_transferred = 32'000'000;
    const Reductions reductions = made_reductions(x);
    to_words(reductions, results);
    layout.gather(results, &step, values);
    record.set_seq(1'000'000 + k);
    record.set_unix_ns(1'700'000'000'000'000'000 + now_ns());
    fill(*record.mutable_step(), figures, layout, values);
    encoded.push_back(record.SerializeAsString());
  }
  return encoded;
}

double seconds_since(std::int64_t begin_ns) {
  return static_cast<double>(now_ns() - begin_ns) * 1e-9;
}

/// Returns records per second. Wipes the journal afterwards. read_s: if not null, is set to the seconds that reading
/// the whole journal takes.
double append_all(const std::string& pool, JournalKind kind, std::uint64_t journal_bytes, std::uint64_t records,
                  std::size_t batch, const std::vector<std::string>& encoded, double* read_s) {
  double seconds = 0;
  {
    Journal journal = Journal::open(pool, {kind, journal_bytes}, Storage::kFile, Durability::kProcess);
    std::vector<EncodedRecord> group(batch);
    const std::int64_t begin_ns = now_ns();
    for (std::uint64_t seq = 1; seq <= records;) {
      for (EncodedRecord& one : group) {
        one = {seq, encoded[seq % kDistinct]};
        ++seq;
      }
      if (const int error = journal.append(group); error != 0) throw system_error("{}: {}", pool, errno_text(error));
    }
    seconds = seconds_since(begin_ns);
  }
  if (read_s != nullptr) {
    const std::int64_t begin_ns = now_ns();
    JournalReader reader = JournalReader::open(pool);
    while (reader.next(0)) continue;
    *read_s = seconds_since(begin_ns);
    if (reader.newest_seq() < records || !reader.damage().empty()) {
      throw damage_error("{}: the journal does not have the appended records: {}", pool, reader.damage());
    }
  }
  JournalWipe(pool).overwrite();
  return static_cast<double>(records) / seconds;
}

Json measure(const std::string& folder, JournalKind kind, std::uint64_t journal_bytes, std::uint64_t records,
             int repeats, const std::vector<std::string>& encoded) {
  const std::string pool = (std::filesystem::path(folder) / ("journal_bench." + std::to_string(getpid()))).string();
  Json result = {{"folder", folder}, {"journal", to_string(kind)}, {"batches", Json::array()}};
  std::vector<double> reading_ms;
  for (const std::size_t batch : {1u, 10u, 100u}) {
    std::vector<double> rates;
    append_all(pool, kind, journal_bytes, records / 4 / 100 * 100, batch, encoded, nullptr);  // warms up
    for (int repeat = 0; repeat < repeats; ++repeat) {
      double read_s = 0;
      rates.push_back(append_all(pool, kind, journal_bytes, records, batch, encoded, &read_s));
      reading_ms.push_back(read_s * 1e3);
    }
    result["batches"].push_back({{"records_in_a_batch", batch}, {"appended", spread(rates, "records/s")}});
  }
  result["read_all"] = spread(reading_ms, "ms");
  return result;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("journal",
                       "Measures how many records per second can be appended to the journal, in plain files and with "
                       "libpmemlog. Prints JSON.");
  std::uint64_t file_records = 400'000;
  std::uint64_t pmemlog_records = 5'000;
  std::uint64_t journal_bytes = std::uint64_t{64} << 20;
  int repeats = 5;
  std::vector<std::string> folders = {"/dev/shm", "/tmp"};
  program.line.option("--file-records", file_records, "Records appended to plain files")
      .check(whole_number_within(1000, 1 << 30));
  program.line
      .option("--pmemlog-records", pmemlog_records,
              "Records appended with libpmemlog without DAX; each append is then synced")
      .check(whole_number_within(1000, 1 << 30));
  program.line.option("--journal-bytes", journal_bytes, "Size of the journal")
      .check(whole_number_within(4 << 20, 1 << 30));
  program.line.option("--repeats", repeats, "Measured repeats").check(whole_number_within(3, 1000));
  program.line.option("--folders", folders, "Folders in which the journal is made, in turn").comma_separated();
  return program.run(argc, argv, [&](Json& report) {
    const std::vector<std::string> encoded = encoded_records();
    report["record_bytes"] = encoded.back().size();
    report["journal_bytes"] = journal_bytes;
    report["durability"] = "process";
    const auto add = [&](const std::string& folder, JournalKind kind, std::uint64_t records) {
      report["results"].push_back(measure(folder, kind, journal_bytes, records / 100 * 100, repeats, encoded));
    };
    for (const std::string& folder : folders) {
      add(folder, JournalKind::kFile, file_records);
      if (has_pmemlog()) add(folder, JournalKind::kPmemlog, pmemlog_records);
    }
  });
}
