// SPDX-License-Identifier: BSD-3-Clause
// Builds a CRS matrix in several processes, as csr_builder.hpp does in one process. Each process produces a share of
// the entries, twice. The first time, all processes count the entries. The counts decide which rows each process gets,
// so that all processes get about the same number of entries. The second time, each entry is sent to the process that
// has the entry's row. In addition to the stored entries, this takes 8 bytes (16 with values) for each entry that this
// process received, and up to twice as much for each entry that it produced, while the lists of these entries grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The other processes, which make the same calls. Each function waits for all of them.
class SharedBuild {
 public:
  virtual ~SharedBuild() = default;

  virtual std::size_t share() const noexcept = 0;  // the share of this process
  virtual std::size_t shares() const noexcept = 0;

  /// The sum of all processes' `lines`; kWrongLine if a process passes kWrongLine.
  virtual std::uint64_t total(std::uint64_t lines) = 0;
  /// The sum of `lines` over the processes with lower shares.
  virtual std::uint64_t before(std::uint64_t lines) = 0;

  /// The number of rows in a block whose entries are counted together.
  virtual std::uint64_t block_rows() const noexcept = 0;
  /// shares + 1 row numbers: the beginnings of all processes' rows. entries: the number of this process's entries in
  /// each block of rows.
  virtual std::vector<std::uint64_t> share_rows(std::uint64_t rows, std::vector<std::uint64_t> entries) = 0;

  /// Sends to[p] to process p. Returns the entries sent to this process, in the order of the processes.
  virtual std::vector<std::uint64_t> exchange(const std::vector<std::vector<std::uint64_t>>& to) = 0;
  virtual std::vector<double> exchange(const std::vector<std::vector<double>>& to) = 0;
};

class SharedBuilder {
 public:
  class Counter;
  class Placer;
  struct How {
    Orientation orientation = Orientation::kRows;
    SharedBuild* with = nullptr;
  };

  // The same interface as that of CsrBuilder, for several processes.
  static std::vector<std::string_view> own_pieces(How how, const std::vector<std::string_view>& pieces);
  static std::uint64_t total(How how, std::uint64_t lines) { return how.with->total(lines); }
  static std::uint64_t before(How how, std::uint64_t lines) { return how.with->before(lines); }

  SharedBuilder(std::uint64_t input_rows, std::uint64_t input_columns, How how, bool weighted);
  void allocate() { first_row_ = how_.with->share_rows(rows_, std::exchange(entries_, {})); }
  /// This process's part, without a content_id.
  CsrMatrix finish(Array<std::uint64_t> id = {});

 private:
  /// The entries for each process. Row and column are in one number; there are values unless the matrix is a pattern.
  struct Outbox {
    std::vector<std::vector<std::uint64_t>> place;
    std::vector<std::vector<double>> value;
  };

  How how_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  bool weighted_;
  std::vector<std::uint64_t> entries_;  // the number of entries in each block of rows
  std::vector<std::uint64_t> first_row_;
  Outbox outbox_;
  std::mutex mutex_;  // guards outbox_ while Placers end
};

/// Each thread has its own Counter, as with EntryCounter.
class SharedBuilder::Counter {
 public:
  explicit Counter(SharedBuilder& builder)
      : builder_(builder), block_rows_(builder.how_.with->block_rows()), entries_(builder.entries_.size()) {}
  ~Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  void add(std::uint32_t i, std::uint32_t j, double /*value*/) noexcept {
    ++entries_[(builder_.how_.orientation == Orientation::kRows ? i : j) / block_rows_];
  }

 private:
  SharedBuilder& builder_;
  std::uint64_t block_rows_;
  std::vector<std::uint64_t> entries_;
};

/// Each thread has its own Placer, as with EntryPlacer.
class SharedBuilder::Placer {
 public:
  explicit Placer(SharedBuilder& builder);
  ~Placer() noexcept(false);  // may throw std::bad_alloc
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;

  void add(std::uint32_t i, std::uint32_t j, double value);

 private:
  SharedBuilder& builder_;
  int exceptions_before_;
  Outbox outbox_;
};

}  // namespace ringside
