// SPDX-License-Identifier: BSD-3-Clause
#include "bench/programs/held_views.hpp"

#include <omp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/reductions/reduction_catalogue.hpp"

namespace ringside::bench {
namespace {

constexpr int kPlaceBits = 24;

constexpr std::uint64_t word_of(std::uint64_t iteration, std::uint64_t place) noexcept {
  return iteration << kPlaceBits | place;
}

/// True if the words [begin, end) of the view are those of that iteration.
bool are_words_of(std::span<const std::byte> view, std::uint64_t iteration, std::uint64_t begin,
                  std::uint64_t end) noexcept {
  bool all = true;
  for (std::uint64_t place = begin; place < end; ++place) {
    std::uint64_t word;
    std::memcpy(&word, view.data() + place * sizeof(word), sizeof(word));
    all = all && word == word_of(iteration, place);
  }
  return all;
}

}  // namespace

struct FastWriter::Shared {
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> leases_broken{0};

  [[noreturn]] void commit_for_ever(const std::filesystem::path& path, std::uint32_t slots, std::uint64_t words) {
    omp_set_num_threads(1);  // the forked process does not have the threads of its parent's team
    const Schema schema = Schema::of({{.name = "words", .dtype = DType::kU64, .shape = {words}}});
    const Catalogue catalogue = catalogue_of(schema, {});
    const RingPool pool = RingPool::create(path, RingShape::of(schema, catalogue), slots);
    pool.prefault();
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kProcess);
    writer.respect(pool.leases());
    RunDescription run;
    run.run_id = random_id();
    run.schema_id = schema.id();
    run.entries = words;
    writer.begin_run(run, catalogue);
    std::vector<std::uint64_t> payload(words);
    for (std::uint64_t iteration = 1;; ++iteration) {
      for (std::uint64_t place = 0; place < words; ++place) payload[place] = word_of(iteration, place);
      if (writer.begin() != CommitStatus::kOk) break;
      writer.copy(payload.data(), {.descriptor = {.step = iteration - 1, .iteration = iteration}});
      if (writer.commit() != CommitStatus::kOk) break;
      writer.end_lease_before_step(now_ns());  // the next step always waits
      writer.choose_before_step(now_ns());
      leases_broken.store(writer.leases_broken(), std::memory_order_relaxed);
      steps.store(iteration, std::memory_order_release);
    }
    throw system_error("{}: cannot be written", path.string());
  }
};

FastWriter::FastWriter(const std::filesystem::path& path, std::uint32_t slots, std::uint64_t words) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw system_error("no memory for two counters: {}", errno_text(errno));
  shared_ = new (memory) Shared;
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    try {
      shared_->commit_for_ever(path, slots, words);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(1);
  }
  while (child_ > 0 && steps() < slots) {
    if (waitpid(child_, nullptr, WNOHANG) != 0) child_ = -1;
    usleep(1000);
  }
  if (child_ <= 0) throw system_error("{}: the process that writes this pool has ended", path.string());
}

FastWriter::~FastWriter() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  munmap(shared_, sizeof(Shared));
}

std::uint64_t FastWriter::steps() const noexcept {
  return shared_->steps.load(std::memory_order_acquire);
}

std::uint64_t FastWriter::leases_broken() const noexcept {
  return shared_->leases_broken.load(std::memory_order_relaxed);
}

HeldViews hold_views(const RingReader& reader, std::uint64_t views, std::uint64_t wait_every) {
  const std::uint64_t slots = reader.ring().geometry().slot_count();
  const std::uint64_t words = reader.ring().geometry().entries();
  HeldViews result;
  HeldStep step;
  while (result.held < views) {
    // Chooses the newest and the oldest step in turn. The analyzer usually overwrites the oldest step next.
    const bool newest = (result.held + result.refused) % 2 == 0;
    const auto older = newest ? std::nullopt : reader.next(0, std::chrono::seconds(0));
    if (reader.hold(older ? older->header.commit_seq + slots / 4 : kNewestCommit, step) != HoldOutcome::kHeld) {
      ++result.refused;
      continue;
    }
    ++result.held;
    const std::uint64_t iteration = step.header().iteration;
    const std::span<const std::byte> view = step.view(0);
    bool whole = are_words_of(view, iteration, 0, words / 2);
    const bool waits = wait_every != 0 && result.held % wait_every == 0;
    if (waits && !reader.next(step.header().commit_seq + 2 * slots, std::chrono::minutes(1))) {
      throw peer_error("no step was committed for a minute after iteration {}", iteration);
    }
    whole = are_words_of(view, iteration, words / 2, words) && whole;
    if (step.release() == HeldStatus::kOverwritten) {
      ++result.overwritten;
      result.waited_overwritten += waits ? 1u : 0u;
    } else if (whole) {
      ++result.intact;
      result.waited_intact += waits ? 1u : 0u;
    } else {
      ++result.torn;
    }
  }
  return result;
}

}  // namespace ringside::bench
