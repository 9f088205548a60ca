// SPDX-License-Identifier: BSD-3-Clause
#include "common/threads/elastic_team.hpp"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <latch>
#include <new>
#include <system_error>

#include "common/kernels/float_environment.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/thread.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kSliceNs = 1'000'000'000;  // the longest delay of a guest that missed a bell

// How often `share_out` checks whether other threads have done the last pieces, before it begins to yield its core.
constexpr int kLooksBeforeYield = 2000;

std::vector<int> without(std::vector<int> cpus, const std::vector<int>& others) {
  std::erase_if(cpus, [&](int cpu) { return std::find(others.begin(), others.end(), cpu) != others.end(); });
  return cpus;
}

constexpr std::uint64_t range_of(std::uint64_t first, std::uint64_t last) noexcept {
  return first | last << 32;
}

}  // namespace

ElasticTeam::ElasticTeam(const std::vector<int>& home, CoreBorrower borrower, std::atomic<std::int64_t>& lent_ns)
    : home_(home), borrower_(borrower), lent_ns_(lent_ns), threads_(static_cast<int>(home.size())) {
  try {
    start_home_threads();
    start_guests();
  } catch (...) {
    end();
    throw;
  }
}

ElasticTeam::~ElasticTeam() {
  end();
}

void ElasticTeam::end() noexcept {
  ended_.store(true);
  jobs_.fetch_add(1);
  jobs_.notify_all();
  borrower_.ring(INT_MAX);
  for (std::thread& thread : thread_) thread.join();
  thread_.clear();
}

void ElasticTeam::start_home_threads() {
  thread_.reserve(home_.size() - 1);
  std::vector<int> errors(home_.size(), 0);
  std::latch started(static_cast<std::ptrdiff_t>(home_.size()) - 1);
  try {
    for (std::size_t thread = 1; thread < home_.size(); ++thread) {
      thread_.emplace_back(
          [this, thread, &errors, &started] { be_home_thread(static_cast<int>(thread), errors[thread], started); });
    }
  } catch (const std::system_error& error) {
    started.count_down(static_cast<std::ptrdiff_t>(home_.size() - 1 - thread_.size()));
    started.wait();
    throw system_error("a thread could not be started on each of {} cores: {}", home_.size(), error.what());
  }
  started.wait();
  for (std::size_t thread = 1; thread < home_.size(); ++thread) {
    if (errors[thread] == 0) continue;
    throw system_error("cannot run on core {} ({}); choose another", home_[thread], errno_text(errors[thread]));
  }
}

/// The list of cores comes from the peer. Only cores that exist and that this process may use get a thread.
void ElasticTeam::start_guests() {
  std::vector<int> usable;
  std::thread probe([&] {  // a separate thread, because testing a core moves the thread to it
    usable = without(borrower_.cpus(), home_);
    std::erase_if(usable, [](int cpu) { return bind_calling_thread(cpu) != 0; });
  });
  probe.join();
  thread_.reserve(thread_.size() + usable.size());
  try {
    for (; threads_ < static_cast<int>(home_.size() + usable.size()); ++threads_) {
      thread_.emplace_back([this, thread = threads_] { run_guest(thread); });
    }
  } catch (const std::system_error&) {  // the team then works with fewer guests
  }
}

std::uint64_t ElasticTeam::pieces(std::uint64_t units, std::uint64_t grain) const noexcept {
  // Four pieces for each thread. With little work, pieces become smaller, so that no thread waits long for the last
  // one.
  const std::uint64_t worth_it = (units + grain - 1) / grain;
  const std::uint64_t fair = std::min(units, 4 * static_cast<std::uint64_t>(threads_));
  return std::clamp<std::uint64_t>(std::max(worth_it, fair), 1, std::uint64_t{1} << 20);
}

void ElasticTeam::share_out(std::uint64_t pieces, Job job) noexcept {
  if (pieces <= 1) {  // there is nothing to share
    if (pieces == 1) job.call(job.work, 0, 0);
    return;
  }
  job_ = job;
  done_.store(0, std::memory_order_relaxed);
  range_.store(range_of(0, pieces));  // a thread that takes a piece also sees the job and all earlier stores
  if (home_.size() > 1) {
    jobs_.fetch_add(1);
    jobs_.notify_all();
  }
  if (guests() > 0 && borrower_.lent()) {
    borrower_.ring(static_cast<int>(std::min<std::uint64_t>(pieces - 1, INT_MAX)));
  }
  work(End::kFront, 0, [] { return true; });
  for (int looks = 0; done_.load(std::memory_order_acquire) != pieces; ++looks) {
    if (looks < kLooksBeforeYield) {
      __builtin_ia32_pause();
    } else {
      sched_yield();
    }
  }
}

bool ElasticTeam::take(End end, std::uint32_t& piece) noexcept {
  std::uint64_t range = range_.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t first = range & 0xffff'ffff;
    const std::uint64_t last = range >> 32;
    if (first >= last) return false;
    // If the exchange finds the range of another job, the piece belongs to that job, which is also correct.
    const bool front = end == End::kFront;
    const std::uint64_t rest = front ? range_of(first + 1, last) : range_of(first, last - 1);
    if (range_.compare_exchange_weak(range, rest, std::memory_order_acq_rel, std::memory_order_acquire)) {
      piece = static_cast<std::uint32_t>(front ? first : last - 1);
      return true;
    }
  }
}

/// Takes pieces until none is left or `continues` returns false. Returns whether it took any piece.
template <class Continues>
bool ElasticTeam::work(End end, int thread, const Continues& continues) noexcept {
  bool worked = false;
  for (std::uint32_t piece = 0; continues() && take(end, piece); worked = true) {
    job_.call(job_.work, piece, thread);
    done_.fetch_add(1, std::memory_order_release);
  }
  return worked;
}

void ElasticTeam::be_home_thread(int thread, int& error, std::latch& started) noexcept {
  set_default_floats();
  error = bind_calling_thread(home_[static_cast<std::size_t>(thread)]);
  started.count_down();
  while (!ended_.load()) {
    const std::uint32_t seen = jobs_.load();
    work(End::kFront, thread, [] { return true; });
    if (!ended_.load()) jobs_.wait(seen);
  }
}

void ElasticTeam::run_guest(int thread) noexcept {
  set_default_floats();
  std::uint32_t generation = 0;  // the generation of the list of cores that placed this guest; the first is 1
  bool placed = false;
  while (!ended_.load()) {
    const std::uint32_t bell_seen = borrower_.bell();
    bool worked = false;
    if (borrower_.enter()) {
      if (generation != borrower_.generation()) {  // the cores have another owner now, and may be others
        generation = borrower_.generation();
        placed = move_to_lent_core(static_cast<std::size_t>(thread) - home_.size());
      }
      if (placed) {
        const std::int64_t begin = now_ns();
        worked = work(End::kBack, thread, [&] { return borrower_.lent() && borrower_.generation() == generation; });
        if (worked) lent_ns_.fetch_add(now_ns() - begin, std::memory_order_relaxed);
      }
      borrower_.leave();
    }
    if (!worked && !ended_.load()) borrower_.sleep(bell_seen, kSliceNs);
  }
}

/// Moves this thread to the index-th usable lent core.
bool ElasticTeam::move_to_lent_core(std::size_t index) noexcept {
  try {
    for (const int cpu : without(borrower_.cpus(), home_)) {
      if (bind_calling_thread(cpu) == 0 && index-- == 0) return true;
    }
  } catch (const std::bad_alloc&) {  // the guest then does no work
  }
  return false;
}

}  // namespace ringside
