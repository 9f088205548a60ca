// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/solvers/row_exchange.hpp"

#include <algorithm>

#include "mpi/solvers/messages.hpp"
#include "producer/kernels/block_rows.hpp"

namespace ringside::mpi {
namespace {

Rows common(Rows a, Rows b) {
  const std::uint64_t first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

}  // namespace

Rows rows_of(const std::vector<std::uint64_t>& border, int rank, std::uint64_t rows) noexcept {
  const auto own = static_cast<std::size_t>(rank);
  return {std::min(border[own] * kBlockRows, rows), std::min(border[own + 1] * kBlockRows, rows)};
}

CsrMatrix moved(MPI_Comm ranks, const CsrMatrix& part, const std::vector<std::uint64_t>& from,
                const std::vector<std::uint64_t>& to) {
  if (from == to) return part;
  int rank = 0;
  MPI_Comm_rank(ranks, &rank);
  const std::uint64_t all = part.all_rows();
  const Rows before = rows_of(from, rank, all);
  const Rows after = rows_of(to, rank, all);
  const int count = static_cast<int>(from.size()) - 1;

  // The lengths of the rows are sent first, because they determine the numbers of entries. A length is below 2^32, as a
  // column number is.
  std::vector<std::uint32_t> length(before.count());
  for (std::uint64_t row = 0; row < length.size(); ++row) {
    length[row] = static_cast<std::uint32_t>(part.row_begin[row + 1] - part.row_begin[row]);
  }
  std::vector<std::uint32_t> new_length(after.count());
  std::vector<Bytes> messages;
  for (int r = 0; r < count; ++r) {
    const Rows going = common(before, rows_of(to, r, all));
    const Rows coming = common(after, rows_of(from, r, all));
    constexpr std::size_t kBytes = sizeof(std::uint32_t);
    if (going.count() > 0) {
      messages.push_back({r, length.data() + (going.first - before.first), nullptr, going.count() * kBytes});
    }
    if (coming.count() > 0) {
      messages.push_back({r, nullptr, new_length.data() + (coming.first - after.first), coming.count() * kBytes});
    }
  }
  transfer(ranks, messages);

  CsrMatrix made;
  made.rows = after.count();
  made.columns = part.columns;
  made.orientation = part.orientation;
  made.id = part.id;
  made.content_id = part.content_id;
  made.first_row = after.first;
  made.rows_elsewhere = all - made.rows;
  made.row_begin = Array<std::uint64_t>(made.rows + 1, Holds::kMatrix);
  for (std::uint64_t row = 0; row < made.rows; ++row) made.row_begin[row + 1] = made.row_begin[row] + new_length[row];
  made.column = Array<std::uint32_t>(made.row_begin[made.rows], Holds::kMatrix);
  int has_values = part.value.empty() ? 0 : 1;  // a part without entries has no values
  MPI_Allreduce(MPI_IN_PLACE, &has_values, 1, MPI_INT, MPI_MAX, ranks);
  if (has_values != 0) made.value = Array<double>(made.column.size(), Holds::kMatrix);

  const auto move = [&](const auto* out, auto* in) {
    messages.clear();
    for (int r = 0; r < count; ++r) {
      const Rows going = common(before, rows_of(to, r, all));
      const Rows coming = common(after, rows_of(from, r, all));
      const std::uint64_t out_begin = part.row_begin[going.count() == 0 ? 0 : going.first - before.first];
      const std::uint64_t out_end = going.count() == 0 ? out_begin : part.row_begin[going.last - before.first];
      const std::uint64_t in_begin = made.row_begin[coming.count() == 0 ? 0 : coming.first - after.first];
      const std::uint64_t in_end = coming.count() == 0 ? in_begin : made.row_begin[coming.last - after.first];
      messages.push_back({r, out + out_begin, nullptr, (out_end - out_begin) * sizeof *out});
      messages.push_back({r, nullptr, in + in_begin, (in_end - in_begin) * sizeof *in});
    }
    transfer(ranks, messages);
  };
  move(part.column.data(), made.column.data());
  if (has_values != 0) move(part.value.data(), made.value.data());
  return made;
}

}  // namespace ringside::mpi
