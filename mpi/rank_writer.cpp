// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rank_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "common/handoff/handoff_environment.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/version.hpp"
#include "common/results/mpi_scalars.hpp"
#include "mpi/common_step.hpp"
#include "mpi/ranks_text.hpp"

namespace ringside::mpi {
namespace {

/// Opens a file that another process on this machine has open, with a new file description. Throws Error (exit code 3).
UniqueFd opened_of(pid_t pid, int fd, int flags) {
  const std::string path = formatted("/proc/{}/fd/{}", pid, fd);
  UniqueFd opened(open(path.c_str(), flags | O_CLOEXEC));
  if (opened.valid()) return opened;
  throw system_error("cannot open '{}', the memory that the node's first rank shares: {}", path, errno_text(errno));
}

}  // namespace

RankWriter::RankWriter(MPI_Comm ranks, const std::function<RankOptions()>& take) : job_(ranks) {
  try {
    attach(take);
  } catch (...) {  // all ranks come here, or none
    counters_.reset();
    job_.free();
    throw;
  }
}

void RankWriter::attach(const std::function<RankOptions()>& take) {
  check_same_release();
  RankOptions options;
  std::string common;
  job_.all.together(job_.name(), [&] {
    options = take();
    check_variables(options.variables);
    check_policies(options.handoff);
    for (std::size_t v = 0; v < options.variables.size(); ++v) check_within(options.variables[v], options.boxes[v]);
    if (options.scalars.size() + kMpiScalars.size() > kMostScalars) {
      throw usage_error("scalars: found {} scalars, expected at most {}: this library adds {}", options.scalars.size(),
                        kMostScalars - kMpiScalars.size(), kMpiScalars.size());
    }
    common = common_text(options);
  });
  check_same_options(common);
  stop_ = options.handoff.stop;
  scalar_count_ = options.scalars.size();
  job_.find_nodes(options.handoff.socket);
  const Schema schema = node_schema(options);
  geometry_ = {options.handoff.buffers, schema.payload_bytes()};
  std::optional<EarlierRings> earlier = find_start(options);
  options.handoff.ranks = ranks_text(job_, options, boxes_);
  options.scalars.insert(options.scalars.end(), kMpiScalars.begin(), kMpiScalars.end());
  // The problem includes the shapes of the whole run and the entries of this node: a ring is resumed only if both are
  // the same.
  options.run.problem_id = node_problem_id(options.run.problem_id, regions_);
  // The parameters also contain the entries as text, which `ringside info` shows; if a run is refused, the message
  // states the difference.
  std::vector<std::string> parameters;
  if (options.run.parameters[0] != '\0') parameters.emplace_back(text_of(options.run.parameters));
  if (earlier) {
    parameters.push_back(
        formatted("continues run {} from iteration {}", to_string(earlier->run_id()), earlier->iteration()));
  }
  parameters.push_back(regions_);
  assign(options.run.parameters, joined(parameters, "; "));
  // All rings get the same run_id, because they belong to one run.
  options.run.run_id = job_.all.value_of_first(options.run.run_id);
  const std::vector<CohortMember> members = node_members();
  job_.all.together(job_.node_name(), [&] {
    if (!job_.node.is_first()) return;
    cohort_.emplace(members, 0u, options.handoff.buffers, stop_);
  });
  if (job_.node.is_first()) {
    attach_first(options, schema);
  } else {
    attach_other(options, members);
  }
  take_kept();
  if (first_) counters_.emplace(job_.firsts, options.handoff.buffers, kept_iteration_, cohort_->head());
  step_began_ns_ = now_ns();
  if (earlier) continue_from(*earlier, options.boxes);
}

/// With RINGSIDE_POOL_RESUME, the nodes agree on the step from which the run continues (resume_from_). Returns the
/// rings of an earlier job, if the user named such rings and the nodes have no step from which to continue. Collective.
std::optional<EarlierRings> RankWriter::find_start(const RankOptions& options) {
  const char* const rings = std::getenv(kResumeFromVariable);
  const std::string earlier = job_.all.text_of_first(rings == nullptr ? "" : rings);
  const bool resumes = options.handoff.pool_use == PoolUse::kResume;
  agrees_ = !earlier.empty() || (resumes && job_.nodes > 1);
  if (!agrees_) return std::nullopt;
  const char* const pool = std::getenv(kPoolVariable);
  job_.all.together(job_.node_name(), [&] {
    if (!job_.node.is_first() || (pool != nullptr && *pool != '\0')) return;
    throw usage_error(
        "{}: {} is not set; expected the path of the node's pool, to find the newest step that all rings "
        "hold (`ringside run` sets it)",
        resumes ? "--resume" : "--resume-from", kPoolVariable);
  });
  const std::string own = pool == nullptr ? "" : pool;
  if (resumes) resume_from_ = newest_common_iteration(job_, own);
  if (earlier.empty() || resume_from_ != 0) return std::nullopt;
  return std::optional<EarlierRings>(std::in_place, job_, earlier, own, options);
}

/// This check is the first exchange between the ranks, because the later exchanges may differ from release to release.
void RankWriter::check_same_release() const {
  struct Release {
    char version[32] = {};
  };
  Release own;
  assign(own.version, version());
  const Release first = job_.all.value_of_first(own);
  job_.all.together(job_.name(), [&] {
    if (text_of(own.version) == text_of(first.version)) return;
    throw usage_error("found libringside_mpi {}, and {} on rank 0; expected one release in a job", text_of(own.version),
                      text_of(first.version));
  });
}

void RankWriter::check_same_options(const std::string& own) const {
  const std::string first = job_.all.text_of_first(own);
  job_.all.together(job_.name(), [&] {
    if (own == first) return;
    const auto [here, there] = differing(own, first);
    throw usage_error("found '{}', and '{}' on rank 0; expected the same on all ranks", here, there);
  });
}

/// Returns this node's variables, and sets this rank's parts in them. The first rank of the job checks all boxes.
Schema RankWriter::node_schema(const RankOptions& options) {
  const std::size_t count = options.boxes.size();
  const int bytes = static_cast<int>(count * sizeof(Box));
  const auto gathered = [&](const Communicator& among) {
    return std::vector<Box>(count * static_cast<std::size_t>(among.size()));
  };
  if (job_.all.is_first()) boxes_ = gathered(job_.all);
  check(MPI_Gather(options.boxes.data(), bytes, MPI_BYTE, boxes_.data(), bytes, MPI_BYTE, 0, job_.all.get()),
        "MPI_Gather");
  job_.all.together("", [&] {
    if (!job_.all.is_first()) return;
    for (std::size_t v = 0; v < count; ++v) check_cover(options.variables[v], boxes_of_variable(boxes_, count, v));
  });

  std::vector<Box> here = gathered(job_.node);
  check(MPI_Allgather(options.boxes.data(), bytes, MPI_BYTE, here.data(), bytes, MPI_BYTE, job_.node.get()),
        "MPI_Allgather");
  std::optional<Schema> schema;
  job_.all.together(job_.node_name(), [&] {
    NodeLayout layout = node_layout(options.variables, here, static_cast<std::size_t>(job_.node.rank()));
    regions_ = std::move(layout.regions);
    schema = layout.schema;
    const std::vector<NodeVariable>& own = layout.variables;
    for (std::size_t v = 0; v < count; ++v) {
      Part& part = parts_.emplace_back();
      part.offset = schema->place(v).offset + own[v].offset_bytes;
      part.bytes = own[v].bytes;
      if (!own[v].is_kept) part.copies.resize(2 * part.bytes);
    }
  });
  return *schema;
}

std::vector<CohortMember> RankWriter::node_members() const {
  struct Who {
    pid_t pid;
    int rank;
  };
  const Who own{getpid(), job_.all.rank()};
  std::vector<Who> all(static_cast<std::size_t>(job_.node.size()));
  check(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, job_.node.get()), "MPI_Allgather");
  std::vector<CohortMember> members;
  for (const Who& who : all) members.push_back({.pid = who.pid, .name = formatted("rank {}", who.rank)});
  return members;
}

namespace {

/// The data that a node's first rank sends to the node's other ranks while it attaches.
struct PassedOn {
  int is_made = 0;  // 0: the first rank has already failed
  int cohort = -1;
  int payload = -1;
  int control = -1;
};

}  // namespace

void RankWriter::attach_first(RankOptions& options, const Schema& schema) {
  bool passed = false;
  cohort_->pass_on = [&](const SharedMapping& payload, const SharedMapping& control) {
    populate(payload);
    passed = true;
    job_.node.value_of_first(PassedOn{1, cohort_->fd(), payload.fd(), control.fd()});
    job_.node.together("", [] {});
  };
  options.handoff.sharing = &*cohort_;
  options.handoff.resume_from = resume_from_;
  job_.all.together(job_.node_name(), [&] {
    try {
      first_.emplace(options.handoff, options.run, schema, options.scalars);
    } catch (...) {
      if (!passed) job_.node.value_of_first(PassedOn{});
      throw;
    }
  });
  cohort_->pass_on = nullptr;
}

void RankWriter::attach_other(const RankOptions& options, const std::vector<CohortMember>& members) {
  const auto passed = job_.node.value_of_first(PassedOn{});
  job_.all.together(job_.node_name(), [&] {
    if (passed.is_made == 0) return;  // the first rank reports the reason
    job_.node.together(job_.name(), [&] {
      const pid_t first = members.front().pid;
      cohort_.emplace(opened_of(first, passed.cohort, O_RDWR), members, static_cast<std::uint32_t>(job_.node.rank()),
                      options.handoff.buffers, stop_);
      other_.emplace(opened_of(first, passed.payload, O_RDWR), opened_of(first, passed.control, O_RDWR), geometry_,
                     *cohort_, options.handoff.spin_ns);
      populate(other_->payload());
    });
  });
}

/// Takes the step from which the run continues, as the first rank received it from the analyzer.
void RankWriter::take_kept() {
  struct Kept {
    std::uint64_t iteration = 0;
    pid_t pid = 0;
    int fd = -1;
  };
  std::optional<KeptStep> kept = first_ ? first_->take_kept() : std::nullopt;
  const Kept own = kept ? Kept{kept->iteration, getpid(), kept->memory.fd()} : Kept{};
  const Kept passed = job_.node.value_of_first(own);
  job_.all.together(job_.node_name(), [&] {
    if (agrees_ && passed.iteration != resume_from_) {
      throw peer_error(
          "the analyzer continues from iteration {}; expected {}, from which all nodes continue ({} must name "
          "the analyzer's pool)",
          passed.iteration, resume_from_, kPoolVariable);
    }
    if (passed.iteration == 0) return;
    const std::size_t scalars = kept_scalars_offset(geometry_.payload_bytes);
    if (kept) {
      kept_ = std::move(kept->memory);
    } else {
      kept_ = SharedMapping::adopt(opened_of(passed.pid, passed.fd, O_RDONLY), scalars + sizeof(KeptScalars),
                                   PeerAccess::kReadOnly);
    }
    std::memcpy(&kept_scalars_, kept_.data() + scalars, sizeof kept_scalars_);
    kept_iteration_ = last_iteration_ = passed.iteration;
  });
}

/// Publishes the step of the earlier rings as this run's first step, so that this run's rings keep it, and the solver's
/// first step has a predecessor.
void RankWriter::continue_from(EarlierRings& earlier, const std::vector<Box>& boxes) {
  job_.all.together(job_.name(), [&] {
    if (const ClaimStatus status = claim(); status != ClaimStatus::kOk) throw failure(status);
    for (std::size_t v = 0; v < parts_.size(); ++v) earlier.copy(v, boxes[v], part(v));
  });
  kept_scalars_ = earlier.scalars();
  ScalarValue scalars[kMostScalars];
  for (std::size_t s = 0; s < scalar_count_; ++s) scalars[s].word = kept_scalars_.words[s];
  publish(earlier.iteration(), {scalars, scalar_count_});
  kept_iteration_ = earlier.iteration();
  has_published_ = false;  // the solver itself has not published yet
}

/// Touches the pages of this rank's parts before any other rank does, so that they are in the memory of this rank's
/// processor.
void RankWriter::populate(const SharedMapping& payload) const noexcept {
  constexpr std::uint64_t kPage = 4096;
  for (std::uint32_t b = 0; b < geometry_.buffers; ++b) {
    for (const Part& part : parts_) {
      const std::uint64_t begin = (geometry_.buffer_offset(b) + part.offset) / kPage * kPage;
      const std::uint64_t end = geometry_.buffer_offset(b) + part.offset + part.bytes;
      if (part.bytes > 0 && part.copies.empty()) payload.populate(begin, end - begin);
    }
  }
}

// --- steps -------------------------------------------------------------------------------------------------------

std::byte* RankWriter::part_of(Part& part, std::byte* step, std::uint64_t number) const noexcept {
  return part.copies.empty() ? step + part.offset : part.copies.data() + number % 2 * part.bytes;
}

std::byte* RankWriter::part(std::size_t variable) noexcept {
  if (claimed_ == nullptr || variable >= parts_.size()) return nullptr;
  return part_of(parts_[variable], claimed_, published());
}

const std::byte* RankWriter::previous_part(std::size_t variable) noexcept {
  if (variable >= parts_.size()) return nullptr;
  if (previous_ != nullptr) return part_of(parts_[variable], previous_, published() - 1);
  return has_kept() ? kept_.data() + parts_[variable].offset : nullptr;
}

std::span<const std::byte> RankWriter::kept_part(std::size_t variable) const noexcept {
  const Part& part = parts_[variable];
  if (kept_.data() != nullptr) return {kept_.data() + part.offset, part.bytes};
  return {part.copies.empty() ? previous_ + part.offset : part.copies.data(), part.bytes};
}

std::optional<ScalarValue> RankWriter::kept_scalar(std::size_t scalar) const noexcept {
  if (!has_kept() || (kept_scalars_.present >> scalar & 1) == 0) return std::nullopt;
  ScalarValue value;
  value.word = kept_scalars_.words[scalar];
  return value;
}

ClaimStatus RankWriter::claim() noexcept {
  claimed_ = nullptr;
  ran_out_ = true;
  if (has_published_) kept_ = SharedMapping();
  if (stop_.is_set()) return ClaimStatus::kStopped;
  const Claim claimed = first_ ? first_->claim() : other_->claim();
  ran_out_ = !claimed && claimed.status != ClaimStatus::kFull;
  claimed_ = claimed.payload;
  return claimed.status;
}

/// The reason why this rank cannot continue. A node's first rank passes its reason on to the node's other ranks.
Error RankWriter::failure(ClaimStatus status) {
  if (stop_.is_set() || (status == ClaimStatus::kStopped && !cohort_->has_failed())) {
    return {ExitCode::kInterrupted, "interrupted: `stop` is set"};
  }
  if (first_ && !cohort_->has_failed()) {
    const Error error = first_->failure(status);
    cohort_->fail(error.code(), error.what());
  }
  const Error error = cohort_->failure();
  return {error.code(), formatted("{}: {}", job_.node_name(), error.what())};
}

void RankWriter::publish(std::uint64_t iteration, std::span<const ScalarValue> scalars) noexcept {
  const std::int64_t waited = idle_ns() - idle_before_ns_;
  const StepReport report{.iteration = iteration,
                          .generate_ns = std::max<std::int64_t>(now_ns() - step_began_ns_ - waited, 0)};
  if (first_) {
    const RunState known = state();
    ScalarValue all[kMostScalars];
    std::copy(scalars.begin(), scalars.end(), all);
    all[scalar_count_] = static_cast<std::int64_t>(known.global_iteration);
    all[scalar_count_ + 1] = static_cast<std::int64_t>(known.waited.node);
    all[scalar_count_ + 2] = known.waited.ns;
    counters_->note_step(first_->published(), iteration);
    first_->publish(report, {all, scalar_count_ + kMpiScalars.size()});
    const Waited own{.node = static_cast<std::uint32_t>(job_.node_index), .ns = cohort_->idle_ns()};
    counters_->advance(first_->committed(), first_->persisted(), own);
  } else {
    other_->publish(report);
  }
  previous_ = std::exchange(claimed_, nullptr);
  has_published_ = true;
  last_iteration_ = iteration;
  idle_before_ns_ = idle_ns();
  step_began_ns_ = now_ns();
}

RunState RankWriter::state() const noexcept {
  const CohortHead& head = cohort_->head();
  // global_persisted is read first, so that it is never ahead of global_iteration.
  const std::uint64_t persisted = head.global_persisted.load(std::memory_order_acquire);
  return {.global_iteration = head.global_iteration.load(std::memory_order_relaxed),
          .global_persisted = persisted,
          .waited = Waited::of(head.waited.load(std::memory_order_relaxed))};
}

// --- the end -----------------------------------------------------------------------------------------------------

void RankWriter::detach(std::uint32_t outcome) {
  try {
    end(outcome);
  } catch (...) {  // all ranks come here, or none
    counters_.reset();
    job_.free();
    throw;
  }
  counters_.reset();
  job_.free();
}

void RankWriter::end(std::uint32_t outcome) {
  job_.all.together(job_.name(), [&] {
    if (outcome <= static_cast<std::uint32_t>(Outcome::kFailed)) return;
    throw usage_error("outcome: found {}, expected 1 to {}", outcome + 1, static_cast<int>(Outcome::kFailed) + 1);
  });
  // The reduction is also a barrier: after it, each rank has returned from its last publish.
  const auto own = static_cast<std::int64_t>(published());
  const std::array<std::int64_t, 5> numbers = {own, -own, outcome, -static_cast<std::int64_t>(outcome), ran_out_};
  std::array<std::int64_t, 5> most{};
  check(MPI_Allreduce(numbers.data(), most.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MAX,
                      job_.all.get()),
        "MPI_Allreduce");
  job_.all.together("", [&] {
    if (most[0] != -most[1]) {
      throw usage_error("the ranks have published {} to {} steps; expected the same number on all of them", -most[1],
                        most[0]);
    }
    if (most[2] != -most[3]) {
      throw usage_error("outcome: found {} to {} on the ranks, expected the same on all of them", -most[3] + 1,
                        most[2] + 1);
    }
  });
  job_.all.together("", [&] {
    if (first_) check(counters_->finish(), "MPI_Iallreduce");
  });
  job_.all.together(job_.node_name(), [&] {
    if (!first_) return;
    try {
      if (cohort_->has_failed()) throw cohort_->failure();
      const bool stopped = static_cast<Outcome>(outcome) == Outcome::kFinished && most[4] != 0;
      first_->detach(stopped ? Outcome::kInterrupted : static_cast<Outcome>(outcome));
    } catch (const Error& error) {
      cohort_->fail(error.code(), error.what());
      throw;
    }
  });
  if (first_ && last_iteration_ > 0) {  // the condition is the same on all nodes
    int is_persisted = first_->persisted() > 0;
    check(MPI_Allreduce(MPI_IN_PLACE, &is_persisted, 1, MPI_INT, MPI_MIN, job_.firsts.get()), "MPI_Allreduce");
    CohortHead& head = cohort_->head();
    head.global_iteration.store(last_iteration_, std::memory_order_relaxed);
    if (is_persisted) head.global_persisted.store(last_iteration_, std::memory_order_release);
  }
  check(MPI_Barrier(job_.node.get()), "MPI_Barrier");
}

}  // namespace ringside::mpi
