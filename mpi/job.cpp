// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/job.hpp"

#include <sys/stat.h>

#include <array>
#include <climits>
#include <exception>
#include <optional>

#include "common/handoff/handoff_writer.hpp"
#include "common/kernels/hash.hpp"
#include "common/text/fixed_text.hpp"
#include "library/handle.hpp"

namespace ringside::mpi {
namespace {

/// An Error in the form in which ranks send it.
struct Failure {
  std::uint32_t code = 0;
  std::uint32_t reason = 0;
  char line[1008] = {};
};

Failure failure_of(const std::string& name, ExitCode code, std::uint32_t reason, const char* what) {
  Failure failure{.code = static_cast<std::uint32_t>(code), .reason = reason, .line = {}};
  assign(failure.line, name.empty() ? std::string(what) : formatted("{}: {}", name, what));
  return failure;
}

/// The namespace in which process ids are valid. Ranks in different containers on one machine may have different
/// namespaces.
std::uint64_t process_namespace() noexcept {
  struct stat found {};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace

void check_may_call() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) {
    throw usage_error("MPI is {}; expected a call between MPI_Init_thread and MPI_Finalize",
                      finalized ? "finalized" : "not initialized");
  }
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  if (is_main || level >= MPI_THREAD_SERIALIZED) return;
  throw usage_error("MPI was initialized with {}, and this is not its main thread; expected the main thread, or "
                    "MPI_THREAD_SERIALIZED",
                    level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE");
}

void check(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw system_error("{}: {}", function, std::string(text, static_cast<std::size_t>(length)));
}

Communicator::Communicator(MPI_Comm owned) : comm_(owned) {
  if (comm_ == MPI_COMM_NULL) return;
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

void Communicator::free() noexcept {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Communicator::together(const std::string& name, const std::function<void()>& work) const {
  std::optional<Failure> own;
  try {
    work();
  } catch (const RefusedError& error) {
    const std::uint32_t reason = error.code() == ExitCode::kUsage ? RINGSIDE_REASON_REFUSED : 0;
    own = failure_of(name, error.code(), reason, error.what());
  } catch (const library::Refusal& error) {
    own = failure_of(name, error.code(), error.reason(), error.what());
  } catch (const Error& error) {
    const std::uint32_t reason = error.code() == ExitCode::kUsage ? RINGSIDE_REASON_ARGUMENT : 0;
    own = failure_of(name, error.code(), reason, error.what());
  } catch (const std::exception& error) {
    own = failure_of(name, ExitCode::kSystem, 0, error.what());
  }
  const int failing = own ? rank_ : INT_MAX;
  int first = INT_MAX;
  check(MPI_Allreduce(&failing, &first, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  if (first == INT_MAX) return;
  Failure failure = own.value_or(Failure{});
  check(MPI_Bcast(&failure, sizeof failure, MPI_BYTE, first, comm_), "MPI_Bcast");
  const Error error(static_cast<ExitCode>(failure.code), std::string(text_of(failure.line)));
  if (failure.reason != 0) throw library::Refusal(failure.reason, error);
  throw error;
}

std::string Communicator::text_of_first(const std::string& text) const {
  const std::uint64_t bytes = value_of_first<std::uint64_t>(text.size());
  std::string all = text;
  all.resize(bytes);
  check(MPI_Bcast(all.data(), static_cast<int>(bytes), MPI_BYTE, 0, comm_), "MPI_Bcast");
  return all;
}

Job::Job(MPI_Comm ranks) {
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_dup(ranks, &made), "MPI_Comm_dup");
  all = Communicator(made);
}

void Job::find_nodes(const std::string& socket) {
  MPI_Comm sharing = MPI_COMM_NULL;
  check(MPI_Comm_split_type(all.get(), MPI_COMM_TYPE_SHARED, all.rank(), MPI_INFO_NULL, &sharing),
        "MPI_Comm_split_type");
  const Id128 hash = hash128(socket.data(), socket.size(), process_namespace());
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_split(sharing, static_cast<int>(hash.low & INT_MAX), all.rank(), &made), "MPI_Comm_split");
  MPI_Comm_free(&sharing);
  node = Communicator(made);
  check(MPI_Comm_split(all.get(), node.is_first() ? 0 : MPI_UNDEFINED, all.rank(), &made), "MPI_Comm_split");
  firsts = Communicator(made);
  const auto found = node.value_of_first(std::array<int, 3>{firsts.rank(), firsts.size(), all.rank()});
  all.together("", [&] {
    if (found[1] > kMostNodes) throw usage_error("found {} nodes, expected at most {}", found[1], kMostNodes);
  });
  node_index = found[0];
  nodes = found[1];
  node_first_rank_ = found[2];
  const int own = all.rank();
  check(MPI_Allreduce(&own, &node_last_rank, 1, MPI_INT, MPI_MAX, node.get()), "MPI_Allreduce");
}

void Job::free() noexcept {
  firsts.free();
  node.free();
  all.free();
}

std::string Job::name() const {
  return formatted("rank {}", all.rank());
}

std::string Job::node_name() const {
  if (node.size() == 1) return formatted("node {} (rank {})", node_index, node_first_rank_);
  const bool together = node_last_rank - node_first_rank_ + 1 == node.size();
  return together ? formatted("node {} (ranks {} to {})", node_index, node_first_rank_, node_last_rank)
                  : formatted("node {} (ranks {}, ... {})", node_index, node_first_rank_, node_last_rank);
}

}  // namespace ringside::mpi
