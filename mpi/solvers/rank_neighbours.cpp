// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/solvers/rank_neighbours.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "common/program/program.hpp"
#include "mpi/solvers/messages.hpp"
#include "mpi/solvers/row_exchange.hpp"
#include "producer/kernels/block_rows.hpp"

namespace ringside::mpi {
namespace {

constexpr int kGhostTag = 2;
constexpr int kTurnTag = 3;

}  // namespace

RankNeighbours::RankNeighbours(MPI_Comm ranks) : comm_(ranks) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

PlaceOnMachine RankNeighbours::place_on_machine() const {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  PlaceOnMachine place;
  MPI_Comm_rank(machine, &place.rank);
  MPI_Comm_size(machine, &place.ranks);
  MPI_Comm_free(&machine);
  return place;
}

// --- while a problem is loaded and a solver is made ---------------------------------------------------------------

void RankNeighbours::together(const std::function<void()>& work) {
  std::optional<Error> own;
  try {
    work();
  } catch (const Error& error) {
    own.emplace(worded_ ? worded_(error) : error);
  } catch (const std::bad_alloc&) {
    own.emplace(ExitCode::kSystem, std::string(kOutOfMemory));
  } catch (const std::exception& error) {
    own.emplace(ExitCode::kSystem, error.what());
  }
  const int failing = own ? rank_ : ranks_;
  int first = ranks_;
  MPI_Allreduce(&failing, &first, 1, MPI_INT, MPI_MIN, comm_);
  if (first == ranks_) return;
  std::string line = first == rank_ ? own->what() : "";
  std::array<std::uint64_t, 2> told = {first == rank_ ? static_cast<std::uint64_t>(own->code()) : 0, line.size()};
  MPI_Bcast(told.data(), 2, MPI_UINT64_T, first, comm_);
  line.resize(told[1]);
  MPI_Bcast(line.data(), static_cast<int>(line.size()), MPI_CHAR, first, comm_);
  throw AgreedError(static_cast<ExitCode>(told[0]), line);
}

int RankNeighbours::owner_of(std::uint64_t row) const noexcept {
  const auto after = std::upper_bound(border_.begin(), border_.end(), row / kBlockRows);
  return static_cast<int>(after - border_.begin()) - 1;
}

ColumnEntries RankNeighbours::entries_in_own_columns(const CsrMatrix& part) {
  std::vector<std::vector<ColumnEntry>> lists(static_cast<std::size_t>(ranks_));
  const auto add = [&](std::uint64_t column, double value) {
    const auto owner = static_cast<std::size_t>(owner_of(column));
    lists[owner].push_back({column - border_[owner] * kBlockRows, value});
  };
  const auto is_own = [&](std::uint64_t column) { return column - part.first_row < part.rows; };
  if (!part.value.empty()) {
    for (std::uint64_t e = 0; e < part.nonzeros(); ++e) {
      if (!is_own(part.column[e])) add(part.column[e], part.value[e]);
    }
  } else {
    Array<std::uint32_t> entries(part.columns);  // at most as many as the matrix has rows
    for (const std::uint32_t column : part.column) ++entries[column];
    for (std::uint64_t column = 0; column < part.columns; ++column) {
      if (entries[column] > 0 && !is_own(column)) add(column, entries[column]);
    }
  }
  const std::vector<std::vector<ColumnEntry>> theirs = exchanged(comm_, lists);
  ColumnEntries entries;
  for (int r = 0; r < ranks_; ++r) {
    std::vector<ColumnEntry>& to = r < rank_ ? entries.before : entries.after;
    const std::vector<ColumnEntry>& from = theirs[static_cast<std::size_t>(r)];
    to.insert(to.end(), from.begin(), from.end());
  }
  return entries;
}

CsrMatrix RankNeighbours::gathered(const CsrMatrix& part) {
  BlockBorders first(border_.size(), border_.back());
  first.front() = 0;
  return moved(comm_, part, border_, first);
}

void RankNeighbours::expect(const CsrMatrix& part, std::span<const std::uint64_t> ghosts,
                            std::span<const std::uint32_t> place) {
  std::vector<std::vector<std::uint32_t>> wanted(static_cast<std::size_t>(ranks_));
  from_.clear();
  for (std::size_t g = 0; g < ghosts.size(); ++g) {
    const int owner = owner_of(ghosts[g]);
    const std::uint64_t first = border_[static_cast<std::size_t>(owner)] * kBlockRows;
    wanted[static_cast<std::size_t>(owner)].push_back(static_cast<std::uint32_t>(ghosts[g] - first));
    if (from_.empty() || from_.back().rank != owner) from_.push_back({owner, g, g});
    ++from_.back().end;
  }
  const std::vector<std::vector<std::uint32_t>> asked = exchanged(comm_, wanted);
  to_.clear();
  sent_.clear();
  for (std::size_t r = 0; r < asked.size(); ++r) {
    if (asked[r].empty()) continue;
    to_.push_back({static_cast<int>(r), sent_.size(), sent_.size() + asked[r].size()});
    sent_.insert(sent_.end(), asked[r].begin(), asked[r].end());
  }
  first_ghost_ = part.rows;
  ghost_.clear();
  if (!place.empty()) {
    for (std::uint32_t& element : sent_) element = place[element];
    ghost_.assign(place.begin() + static_cast<std::ptrdiff_t>(part.rows), place.end());
  }
  outgoing_.resize(sent_.size());
  incoming_.resize(ghost_.size());
  requests_.assign(to_.size() + from_.size(), MPI_REQUEST_NULL);
}

// --- in each iteration ----------------------------------------------------------------------------------------------

void RankNeighbours::send(const double* own, double* ghosted) noexcept {
  ghosted_ = ghosted;
  double* const incoming = ghost_.empty() ? ghosted + first_ghost_ : incoming_.data();
  MPI_Request* request = requests_.data();
  const auto count = [](const Link& link) { return static_cast<int>(link.end - link.begin); };
  for (const Link& link : from_) {
    MPI_Irecv(incoming + link.begin, count(link), MPI_DOUBLE, link.rank, kGhostTag, comm_, request++);
  }
#pragma omp parallel for schedule(static) if (sent_.size() >= kWorthThreads)
  for (std::size_t at = 0; at < sent_.size(); ++at) outgoing_[at] = own[sent_[at]];
  for (const Link& link : to_) {
    MPI_Isend(outgoing_.data() + link.begin, count(link), MPI_DOUBLE, link.rank, kGhostTag, comm_, request++);
  }
}

void RankNeighbours::receive() noexcept {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  if (ghosted_ == nullptr) return;
#pragma omp parallel for schedule(static) if (ghost_.size() >= kWorthThreads)
  for (std::size_t at = 0; at < ghost_.size(); ++at) ghosted_[ghost_[at]] = incoming_[at];
  ghosted_ = nullptr;
}

void RankNeighbours::await_turn(void* state, std::size_t bytes) noexcept {
  if (rank_ == 0) {
    turn_.stop = 0;
    return;
  }
  MPI_Recv(&turn_, static_cast<int>(offsetof(Turn, state) + bytes), MPI_BYTE, rank_ - 1, kTurnTag, comm_,
           MPI_STATUS_IGNORE);
  std::memcpy(state, turn_.state.data(), bytes);
}

void RankNeighbours::pass_on(void* state, std::size_t bytes) noexcept {
  const int last = ranks_ - 1;
  const int sent = static_cast<int>(offsetof(Turn, state) + bytes);
  std::memcpy(turn_.state.data(), state, bytes);
  if (stop_.is_set()) turn_.stop = 1;
  if (rank_ < last) MPI_Send(&turn_, sent, MPI_BYTE, rank_ + 1, kTurnTag, comm_);
  MPI_Bcast(&turn_, sent, MPI_BYTE, last, comm_);
  std::memcpy(state, turn_.state.data(), bytes);
  if (turn_.stop != 0) stop_agreed_ = 1;
}

}  // namespace ringside::mpi
