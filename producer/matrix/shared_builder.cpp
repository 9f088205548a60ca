// SPDX-License-Identifier: BSD-3-Clause
#include "producer/matrix/shared_builder.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "producer/matrix/csr_builder.hpp"
#include "producer/text/text_scan.hpp"

namespace ringside {

std::vector<std::string_view> SharedBuilder::own_pieces(How how, const std::vector<std::string_view>& pieces) {
  if (pieces.empty()) return {};
  const char* const begin = pieces.front().data();
  const auto bytes = static_cast<std::size_t>(pieces.back().data() + pieces.back().size() - begin);
  const std::vector<std::string_view> shares = split_at_lines({begin, bytes}, how.with->shares());
  if (how.with->share() >= shares.size()) return {};
  const std::string_view own = shares[how.with->share()];
  return split_at_lines(own, piece_count(own.size()));
}

SharedBuilder::SharedBuilder(std::uint64_t input_rows, std::uint64_t input_columns, How how, bool weighted)
    : how_(how),
      rows_(how.orientation == Orientation::kRows ? input_rows : input_columns),
      columns_(how.orientation == Orientation::kRows ? input_columns : input_rows),
      weighted_(weighted),
      entries_((rows_ + how.with->block_rows() - 1) / how.with->block_rows()) {
  outbox_.place.resize(how.with->shares());
  outbox_.value.resize(how.with->shares());
}

CsrMatrix SharedBuilder::finish(Array<std::uint64_t> id) {
  std::vector<std::uint64_t> place = how_.with->exchange(std::exchange(outbox_.place, {}));
  std::vector<double> value;
  if (weighted_) value = how_.with->exchange(std::exchange(outbox_.value, {}));
  const std::uint64_t first = first_row_[how_.with->share()];
  const std::uint64_t rows = first_row_[how_.with->share() + 1] - first;
  CsrBuilder builder(rows, columns_, Orientation::kRows, weighted_);
  const auto for_all = [&](auto make_sink) {
#pragma omp parallel
    {
      auto sink = make_sink();
#pragma omp for schedule(static)
      for (std::size_t e = 0; e < place.size(); ++e) {
        sink.add(static_cast<std::uint32_t>((place[e] >> 32) - first), static_cast<std::uint32_t>(place[e]),
                 weighted_ ? value[e] : 1);
      }
    }
  };
  for_all([&] { return EntryCounter(builder); });
  builder.allocate();
  for_all([&] { return EntryPlacer(builder); });
  CsrMatrix part = builder.finish_part(std::move(id));
  part.orientation = how_.orientation;
  part.first_row = first;
  part.rows_elsewhere = rows_ - rows;
  return part;
}

SharedBuilder::Counter::~Counter() {
#pragma omp critical(ringside_shared_builder)
  std::transform(entries_.begin(), entries_.end(), builder_.entries_.begin(), builder_.entries_.begin(), std::plus<>());
}

SharedBuilder::Placer::Placer(SharedBuilder& builder)
    : builder_(builder), exceptions_before_(std::uncaught_exceptions()) {
  outbox_.place.resize(builder.outbox_.place.size());
  outbox_.value.resize(builder.outbox_.value.size());
}

SharedBuilder::Placer::~Placer() noexcept(false) {
  if (std::uncaught_exceptions() > exceptions_before_) return;  // after an exception, the matrix will not be finished
  const auto append = [](auto& to, auto& from) {
    for (std::size_t process = 0; process < to.size(); ++process) {
      if (to[process].empty()) {
        to[process] = std::move(from[process]);
        continue;
      }
      const std::size_t before = to[process].size();
      to[process].resize(before + from[process].size());
      std::copy(from[process].begin(), from[process].end(), to[process].begin() + static_cast<std::ptrdiff_t>(before));
      from[process] = {};  // frees its memory
    }
  };
  const std::lock_guard lock(builder_.mutex_);  // an exception must not leave an OpenMP critical section
  append(builder_.outbox_.place, outbox_.place);
  append(builder_.outbox_.value, outbox_.value);
}

void SharedBuilder::Placer::add(std::uint32_t i, std::uint32_t j, double value) {
  const bool as_written = builder_.how_.orientation == Orientation::kRows;
  const std::uint64_t row = as_written ? i : j;
  const std::uint64_t column = as_written ? j : i;
  const std::vector<std::uint64_t>& first = builder_.first_row_;
  const auto next = std::upper_bound(first.begin() + 1, first.end() - 1, row);
  const auto process = static_cast<std::size_t>(next - first.begin()) - 1;
  outbox_.place[process].push_back(row << 32 | column);
  if (builder_.weighted_) outbox_.value[process].push_back(value);
}

}  // namespace ringside
