#include "common/elastic_team.hpp"

#include <sched.h>

#include <algorithm>
#include <system_error>

#include "common/clock.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kSliceNs = 1'000'000'000;  // a bell that was not heard costs no more than this

// While the last pieces are done elsewhere: so many looks before the core is offered to others.
constexpr int kLooksBeforeYield = 2000;

bool bind_to(int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::vector<int> without(std::vector<int> cpus, const std::vector<int>& others) {
  std::erase_if(cpus, [&](int cpu) { return std::find(others.begin(), others.end(), cpu) != others.end(); });
  return cpus;
}

constexpr std::uint64_t range_of(std::uint64_t first, std::uint64_t last) noexcept {
  return first | last << 32;
}

}  // namespace

ElasticTeam::ElasticTeam(const std::vector<int>& home, CoreBorrower borrower, std::atomic<std::int64_t>& lent_ns)
    : home_(home), borrower_(borrower), lent_ns_(lent_ns) {
  const std::size_t lent = without(borrower_.cpus(), home_).size();
  threads_ = static_cast<int>(home_.size() + lent);
  std::latch started(static_cast<std::ptrdiff_t>(threads_) - 1);
  try {
    for (int thread = 1; thread < threads_; ++thread) {
      const auto place = static_cast<std::size_t>(thread);
      if (place < home_.size()) {
        thread_.emplace_back([this, thread, place, &started] { be_home_thread(thread, home_[place], started); });
      } else {
        thread_.emplace_back(
            [this, thread, index = place - home_.size(), &started] { be_guest(thread, index, started); });
      }
    }
  } catch (const std::system_error& error) {
    started.count_down(threads_ - 1 - static_cast<std::ptrdiff_t>(thread_.size()));
    started.wait();
    end();
    throw system_error("a thread could not be started on each of {} cores: {}", threads_, error.what());
  }
  started.wait();
  if (misplaced_.load() == 0) return;
  end();
  throw system_error("{} of {} threads could not be bound to their cores; choose others", misplaced_.load(),
                     home_.size());
}

ElasticTeam::~ElasticTeam() {
  end();
}

void ElasticTeam::end() noexcept {
  ended_.store(true);
  jobs_.fetch_add(1);
  jobs_.notify_all();
  borrower_.ring();
  for (std::thread& thread : thread_) thread.join();
  thread_.clear();
}

std::uint64_t ElasticTeam::pieces(std::uint64_t units, std::uint64_t grain) const noexcept {
  // Four for each thread: where there is little work a piece may be smaller, so that nobody waits long for the last.
  const std::uint64_t worth_it = (units + grain - 1) / grain;
  const std::uint64_t fair = std::min(units, 4 * static_cast<std::uint64_t>(threads_));
  return std::clamp<std::uint64_t>(std::max(worth_it, fair), 1, std::uint64_t{1} << 20);
}

void ElasticTeam::share_out(std::uint64_t pieces, Job job) noexcept {
  if (pieces == 0) return;
  job_ = job;
  done_.store(0, std::memory_order_relaxed);
  range_.store(range_of(0, pieces));  // whoever takes a piece sees the job, and what came before it
  if (home_.size() > 1) {
    jobs_.fetch_add(1);
    jobs_.notify_all();
  }
  if (borrower_.lent()) borrower_.ring();
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
    // The range may be another job's by the time it is exchanged: then the piece is that one's, and as good.
    const bool front = end == End::kFront;
    const std::uint64_t rest = front ? range_of(first + 1, last) : range_of(first, last - 1);
    if (range_.compare_exchange_weak(range, rest, std::memory_order_acq_rel, std::memory_order_acquire)) {
      piece = static_cast<std::uint32_t>(front ? first : last - 1);
      return true;
    }
  }
}

/// Takes pieces until there are none, or `goes_on` says no. True if there was one.
template <class GoesOn>
bool ElasticTeam::work(End end, int thread, const GoesOn& goes_on) noexcept {
  bool worked = false;
  for (std::uint32_t piece = 0; goes_on() && take(end, piece); worked = true) {
    job_.call(job_.work, piece, thread);
    done_.fetch_add(1, std::memory_order_release);
  }
  return worked;
}

void ElasticTeam::be_home_thread(int thread, int cpu, std::latch& started) noexcept {
  if (!bind_to(cpu)) misplaced_.fetch_add(1);
  started.count_down();
  while (!ended_.load()) {
    const std::uint32_t seen = jobs_.load();
    work(End::kFront, thread, [] { return true; });
    if (!ended_.load()) jobs_.wait(seen);
  }
}

void ElasticTeam::be_guest(int thread, std::size_t index, std::latch& started) noexcept {
  std::uint32_t generation = borrower_.generation();
  bool placed = move_to_lent_core(index);
  if (placed) guests_.fetch_add(1);
  started.count_down();
  while (!ended_.load()) {
    const std::uint32_t heard = borrower_.bell();
    bool worked = false;
    if (borrower_.enter()) {
      if (generation != borrower_.generation()) {  // another owner, on other cores
        generation = borrower_.generation();
        placed = move_to_lent_core(index);
      }
      if (placed) {
        const std::int64_t begin = now_ns();
        worked = work(End::kBack, thread, [this] { return borrower_.lent(); });
        if (worked) lent_ns_.fetch_add(now_ns() - begin, std::memory_order_relaxed);
      }
      borrower_.leave();
    }
    if (!worked && !ended_.load()) borrower_.sleep(heard, kSliceNs);
  }
}

bool ElasticTeam::move_to_lent_core(std::size_t index) noexcept {
  try {
    const std::vector<int> lent = without(borrower_.cpus(), home_);
    return index < lent.size() && bind_to(lent[index]);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace ringside
