// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/plug_ins/plug_in_watch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "common/kernels/float_environment.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

// The signals that count as a crash. SIGBUS is not among them: it belongs to the handler of failed mappings
// (common/files/watched_mapping), and this code cannot ask that handler whether a fault is in one of its mappings.
// After a SIGBUS, the threads' cells show where the process was.
constexpr int kSignals[] = {SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGSYS};
constexpr std::size_t kLabelBytes = 512;
constexpr int kLooksInTimeout = 8;
constexpr const char* kSentinel = "/dev/null";
constexpr std::string_view kClosedDescriptors = "it closed descriptors that are not its own";
constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;  // an endless recursion fills the thread's own stack

// The data for the handlers, which read nothing else of the process.
std::atomic<PlugInNotes*> notes_of_process{nullptr};
std::atomic<const ForkMark*> mark_of_process{nullptr};
std::atomic<int> sentinel_of_process{-1};
char labels_of_process[kMostPlugIns][kLabelBytes];
struct sigaction actions_before[std::size(kSignals)];
thread_local std::atomic<PlugInCell*> own_cell{nullptr};

/// Writes "ringside: the LABEL WHAT REST". Async-signal-safe.
void write_line(std::string_view label, std::string_view what, std::string_view rest = {}) noexcept {
  char line[kLabelBytes + 256];
  std::size_t length = 0;
  for (const std::string_view part : {std::string_view("ringside: the "), label, what, rest, std::string_view("\n")}) {
    const std::size_t count = std::min(part.size(), sizeof line - length);
    std::memcpy(line + length, part.data(), count);
    length += count;
  }
  const ssize_t written = write(STDERR_FILENO, line, length);
  (void)written;
}

void note(std::uint32_t plug_in, PlugInEnd how, std::string_view what) noexcept {
  PlugInNotes* const notes = notes_of_process.load();
  if (notes == nullptr || plug_in == 0 || plug_in > kMostPlugIns) return;
  if (notes->note_end(plug_in - 1, how)) write_line(labels_of_process[plug_in - 1], " failed, and ends the process: ", what);
}

std::uint32_t own_plug_in() noexcept {
  if (notes_of_process.load() == nullptr) return 0;       // the cells may be unmapped
  if (!mark_of_process.load()->is_owner()) return 0;  // how a child of the plug-in ends does not matter here
  const PlugInCell* const cell = own_cell.load(std::memory_order_relaxed);
  return cell != nullptr ? cell->plug_in.load(std::memory_order_relaxed) : 0;
}

/// Whether the sentinel is closed. Another thread may meanwhile have opened a file of another kind, with the sentinel's
/// number. Async-signal-safe.
bool lost_descriptors() noexcept {
  struct stat found {};
  const int sentinel = sentinel_of_process.load();
  return sentinel >= 0 && (fstat(sentinel, &found) != 0 || !S_ISCHR(found.st_mode));
}

/// The first plug-in in which any thread is; 0 if no thread is in a plug-in.
std::uint32_t plug_in_of_any_thread() noexcept {
  for (std::size_t thread = 0; thread < PlugInNotes::cells(); ++thread) {
    const std::uint32_t plug_in = notes_of_process.load()->cell(thread).plug_in.load(std::memory_order_relaxed);
    if (plug_in != 0) return plug_in;
  }
  return 0;
}

void on_signal(int number) {
  const int errno_before = errno;
  const std::uint32_t plug_in = own_plug_in();
  // ZeroMQ aborts if one of its descriptors is missing.
  if (plug_in == 0 && notes_of_process.load() != nullptr && mark_of_process.load()->is_owner() && lost_descriptors()) {
    note(plug_in_of_any_thread(), PlugInEnd::kDescriptors, kClosedDescriptors);
  }
  if (plug_in != 0) {
    const char* const name = sigdescr_np(number);
    note(plug_in, PlugInEnd{static_cast<std::uint32_t>(number)}, name != nullptr ? name : "a signal");
  }
  for (std::size_t s = 0; s < std::size(kSignals); ++s) {
    if (kSignals[s] == number) sigaction(number, &actions_before[s], nullptr);
  }
  raise(number);  // pending until this function returns; then the previous action handles it
  errno = errno_before;
}

void on_exit_of_process() {
  const std::uint32_t plug_in = own_plug_in();
  if (plug_in == 0) return;
  note(plug_in, PlugInEnd::kExit, "it called exit");
  std::abort();  // the supervisor replaces an analyzer that a signal ended
}

/// Gives this thread a stack for the handlers, which is kept until the process ends.
void give_signal_stack() noexcept {
  thread_local bool has_stack = false;
  if (has_stack) return;
  has_stack = true;
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kSignalStackBytes;
  if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
}

}  // namespace

PlugInWatch::PlugInWatch(std::span<const std::string> labels, double timeout_s, PlugInNotes& notes)
    : notes_(notes), timeout_s_(timeout_s), sentinel_(open(kSentinel, O_RDONLY | O_CLOEXEC)) {
  for (std::size_t p = 0; p < labels.size() && p < kMostPlugIns; ++p) {
    labels_of_process[p][write_printable(labels[p], labels_of_process[p], kLabelBytes - 1)] = '\0';
  }
  static const int registered = std::atexit(on_exit_of_process);
  (void)registered;
  mark_of_process.store(&mark_);
  sentinel_of_process.store(sentinel_.get());
  notes_of_process.store(&notes);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t s = 0; s < std::size(kSignals); ++s) sigaction(kSignals[s], &action, &actions_before[s]);
  thread_ = std::jthread([this](const std::stop_token& stop) { look_for_hangs(stop); });
}

PlugInWatch::~PlugInWatch() {
  thread_ = {};
  for (std::size_t s = 0; s < std::size(kSignals); ++s) sigaction(kSignals[s], &actions_before[s], nullptr);
  notes_of_process.store(nullptr);
}

void PlugInWatch::enter(std::size_t thread, std::size_t plug_in) noexcept {
  give_signal_stack();
  PlugInCell& cell = notes_.cell(thread);
  own_cell.store(&cell, std::memory_order_relaxed);
  cell.calls.store(cell.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  cell.plug_in.store(static_cast<std::uint32_t>(plug_in + 1), std::memory_order_relaxed);
}

void PlugInWatch::leave(std::size_t thread, std::size_t plug_in) noexcept {
  if (!mark_.is_owner()) end_child(plug_in);
  if (restore_default_floats()) name_changed_floats(plug_in);
  notes_.cell(thread).plug_in.store(0, std::memory_order_relaxed);
}

void PlugInWatch::check_descriptors(std::size_t plug_in) noexcept {
  if (!lost_descriptors()) return;
  note(static_cast<std::uint32_t>(plug_in + 1), PlugInEnd::kDescriptors, kClosedDescriptors);
  std::abort();
}

void PlugInWatch::name_changed_floats(std::size_t plug_in) noexcept {
  const std::uint32_t bit = std::uint32_t{1} << plug_in;
  if ((changed_floats_.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  write_line(labels_of_process[plug_in],
             " has changed the floating-point environment (rounding, subnormal numbers or traps); the environment is "
             "restored after each of its calls, so no other result changes");
}

/// Called in a child process that the plug-in's call has forked: the child has none of the analyzer's other threads,
/// and must not touch the ring.
void PlugInWatch::end_child(std::size_t plug_in) noexcept {
  if (notes_.note_child(static_cast<std::uint32_t>(plug_in))) {
    write_line(labels_of_process[plug_in],
               " has forked, and the child returned from the call: the child ends, and the plug-in is left out");
  }
  _exit(EXIT_FAILURE);
}

// Counts checks, not time: a process that was stopped, or had no core, has checked only as often as it has run.
void PlugInWatch::look_for_hangs(const std::stop_token& stop) {
  struct Seen {
    std::uint64_t calls = 0;
    int looks = 0;
  };
  std::vector<Seen> seen(PlugInNotes::cells());
  std::mutex mutex;
  std::condition_variable_any wake;
  const std::chrono::duration<double> between(timeout_s_ / kLooksInTimeout);
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, between, [&] { return stop.stop_requested(); })) {
    for (std::size_t thread = 0; thread < seen.size(); ++thread) {
      const PlugInCell& cell = notes_.cell(thread);
      const std::uint32_t plug_in = cell.plug_in.load(std::memory_order_relaxed);
      const std::uint64_t calls = cell.calls.load(std::memory_order_relaxed);
      Seen& before = seen[thread];
      if (plug_in == 0 || before.calls != calls) {
        before = {calls, 0};
        continue;
      }
      if (++before.looks < kLooksInTimeout) continue;
      note(plug_in, PlugInEnd::kHang, "it did not return in time (--reduce-with-timeout)");
      std::abort();
    }
  }
}

}  // namespace ringside
