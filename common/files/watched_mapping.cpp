// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/watched_mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>

#include "common/text/printable.hpp"

namespace ringside {

constexpr std::uintptr_t kFaultPageBytes = 4096;
constexpr std::size_t kMaxNameBytes = 1024;

/// An entry is never freed, but reused after its mapping is removed. The functions write an entry under the mutex; the
/// handler reads it.
struct WatchedMapping::Entry {
  Entry* next = nullptr;
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};  // stored last and cleared first; 0: the entry is free
  std::atomic<pid_t> thread{0};        // the thread whose faults count; 0: any thread
  std::atomic<bool> survives{false};
  std::atomic<bool> survives_truncation{false};
  std::atomic<int> error{0};
  std::atomic<std::int64_t> failed_at{-1};     // the offset of the first fault
  std::atomic<std::int64_t> truncated_to{-1};  // the file's size at the first fault that found it truncated
  int fd = -1;
  char name[kMaxNameBytes] = {};
};

namespace {

using Entry = WatchedMapping::Entry;

std::mutex entries_mutex;
std::atomic<Entry*> entries{nullptr};
struct sigaction action_before {};
bool line_for_journal = false;

pid_t this_thread() noexcept {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

/// Builds a line of text without allocation.
class Line {
 public:
  Line& add(std::string_view text) noexcept {
    for (const char c : text) {
      if (used_ < sizeof(text_)) text_[used_++] = c;
    }
    return *this;
  }
  Line& add(std::uint64_t number) noexcept {
    char digits[20];
    const char* const end = std::to_chars(digits, std::end(digits), number).ptr;
    return add(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  void write() const noexcept { [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_, used_); }

 private:
  char text_[kMaxNameBytes + 512];
  std::size_t used_ = 0;
};

/// The entry of the mapping that contains the address; otherwise the entry that this thread has registered for a
/// library call.
Entry* entry_of(std::uintptr_t address) noexcept {
  Entry* of_thread = nullptr;
  for (Entry* entry = entries.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
    if (address >= entry->end.load(std::memory_order_acquire) || address < entry->begin.load()) continue;
    const pid_t thread = entry->thread.load();
    if (address >= entry->end.load(std::memory_order_acquire)) continue;  // the entry was reused meanwhile
    if (thread == 0) return entry;
    if (thread == this_thread()) of_thread = entry;
  }
  return of_thread;
}

/// Replaces the failed page by a private one with the content that can still be read.
bool replace_page(const Entry& entry, std::uintptr_t page) noexcept {
  char content[kFaultPageBytes];
  const ssize_t count = pread(entry.fd, content, sizeof content, static_cast<off_t>(page - entry.begin.load()));
  void* const at = reinterpret_cast<void*>(page);
  if (mmap(at, kFaultPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at) {
    return false;
  }
  if (count > 0) std::memcpy(at, content, static_cast<std::size_t>(count));
  return true;
}

[[noreturn]] void end_process(const Entry& entry, std::int64_t offset, std::int64_t truncated_to) noexcept {
  const ExitCode code = truncated_to >= 0 ? ExitCode::kDamaged : ExitCode::kSystem;
  Line line;
  if (line_for_journal) {
    line.add("<3>level=error event=failed exit_code=").add(static_cast<std::uint64_t>(code)).add(" text=\"");
  } else {
    line.add("ringside: ");
  }
  line.add(entry.name);
  if (truncated_to >= 0) {
    line.add(": was truncated to ").add(static_cast<std::uint64_t>(truncated_to)).add(" bytes while it was in use");
    line.add("; expected a file that keeps its size");
  } else {
    line.add(": the disk failed");
    if (offset >= 0) line.add(" at byte ").add(static_cast<std::uint64_t>(offset));
    line.add(" (SIGBUS: a page could not be read, or had no space); what was persisted before is still in the file");
  }
  line.add(line_for_journal ? "\"\n" : "\n").write();
  _exit(static_cast<int>(code));
}

/// The faulting instruction runs again after this function returns.
void on_bus_error(int, siginfo_t* info, void*) {
  const int errno_before = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Entry* const entry = info->si_code > 0 ? entry_of(address) : nullptr;  // a code <= 0: a process sent the signal
  if (entry == nullptr) {
    sigaction(SIGBUS, &action_before, nullptr);
    if (info->si_code <= 0) raise(SIGBUS);  // pending until this function returns; a fault needs no raise
    errno = errno_before;
    return;
  }
  const bool known_place = entry->thread.load() == 0;
  const std::uintptr_t page = address / kFaultPageBytes * kFaultPageBytes;
  const std::int64_t offset = known_place ? static_cast<std::int64_t>(page - entry->begin.load()) : -1;
  struct stat status {};
  const bool truncated = known_place && fstat(entry->fd, &status) == 0 && status.st_size <= offset;
  const std::int64_t truncated_to = truncated ? status.st_size : -1;
  const bool survives = truncated ? entry->survives_truncation.load() : entry->survives.load();
  if (!known_place || !survives) end_process(*entry, offset, truncated_to);
  // Record the fault before mapping the new page, so that a thread that reads zeros there can detect the fault.
  std::int64_t none = -1;
  if (truncated) entry->truncated_to.compare_exchange_strong(none, truncated_to);
  none = -1;
  entry->failed_at.compare_exchange_strong(none, offset);
  int no_error = 0;
  entry->error.compare_exchange_strong(no_error, EIO);
  if (!replace_page(*entry, page)) end_process(*entry, offset, truncated_to);
  errno = errno_before;
}

Entry* free_entry() {
  for (Entry* entry = entries.load(); entry != nullptr; entry = entry->next) {
    if (entry->end.load() == 0) return entry;
  }
  auto* const made = new Entry;
  made->next = entries.load();
  entries.store(made, std::memory_order_release);
  return made;
}

Entry* enter(const std::string& name, int fd, std::uintptr_t begin, std::uintptr_t end, pid_t thread) {
  const int own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own_fd < 0) throw system_error("{}: {}", name, errno_text(errno));
  const std::lock_guard lock(entries_mutex);
  Entry* const entry = free_entry();
  entry->fd = own_fd;
  entry->name[write_printable(name, entry->name, kMaxNameBytes - 1)] = '\0';
  entry->begin.store(begin);
  entry->thread.store(thread);
  entry->survives.store(false);
  entry->survives_truncation.store(false);
  entry->error.store(0);
  entry->failed_at.store(-1);
  entry->truncated_to.store(-1);
  entry->end.store(end, std::memory_order_release);
  return entry;
}

}  // namespace

void catch_bus_errors(bool in_journal) noexcept {
  static std::atomic<bool> installed{false};
  line_for_journal = in_journal;
  if (installed.exchange(true)) return;  // a second call would save this handler as the previous action
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGBUS, &action, &action_before);
}

WatchedMapping::WatchedMapping(const std::string& name, int fd, const void* base, std::size_t bytes)
    : entry_(
          enter(name, fd, reinterpret_cast<std::uintptr_t>(base), reinterpret_cast<std::uintptr_t>(base) + bytes, 0)) {}

WatchedMapping::WatchedMapping(const std::string& name, int fd)
    : entry_(enter(name, fd, 0, UINTPTR_MAX, this_thread())) {}

WatchedMapping::~WatchedMapping() {
  const std::lock_guard lock(entries_mutex);
  entry_->end.store(0);
  close(entry_->fd);
}

void WatchedMapping::survive_faults(Survive what) noexcept {
  entry_->survives.store(true);
  entry_->survives_truncation.store(what == Survive::kAll);
}

void WatchedMapping::note(int error) noexcept {
  int none = 0;
  entry_->error.compare_exchange_strong(none, error);
}

int WatchedMapping::error() const noexcept {
  return entry_->error.load();
}

std::optional<Error> WatchedMapping::fault() const {
  if (const std::int64_t bytes = entry_->truncated_to.load(); bytes >= 0) {
    return damage_error("{}: was truncated to {} bytes while it was in use; expected a file that keeps its size",
                        entry_->name, bytes);
  }
  if (const std::int64_t offset = entry_->failed_at.load(); offset >= 0) {
    return system_error(
        "{}: the disk failed at byte {} (SIGBUS: a page could not be read, or had no space); what was persisted before "
        "is still in the file",
        entry_->name, offset);
  }
  return std::nullopt;
}

bool WatchedMapping::intact() const noexcept {
  return error() == 0 && file_bytes() >= mapped_bytes();
}

bool WatchedMapping::intact_or_noted() noexcept {
  if (error() != 0) return false;
  const std::int64_t bytes = file_bytes();
  if (bytes >= mapped_bytes()) return true;
  std::int64_t none = -1;
  if (bytes >= 0) entry_->truncated_to.compare_exchange_strong(none, bytes);
  note(EIO);
  return false;
}

/// The file's size; -1 if it cannot be determined.
std::int64_t WatchedMapping::file_bytes() const noexcept {
  struct stat status {};
  return fstat(entry_->fd, &status) == 0 ? status.st_size : -1;
}

std::int64_t WatchedMapping::mapped_bytes() const noexcept {
  return static_cast<std::int64_t>(entry_->end.load() - entry_->begin.load());
}

}  // namespace ringside
