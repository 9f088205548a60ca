// SPDX-License-Identifier: BSD-3-Clause
// The thesis's scheme (M. Michel, "An Analysis and Software Reimplementation of Intel Optane DC Memory Mode", KIT
// 2020), implemented from its description, for comparison. Pages of 4 KiB have no access rights; a SIGSEGV handler
// moves them, first in, first out. The handler searches two lists from the front, and maps the swap file again for
// every page. `table` replaces the search by an index, which separates the time of the lists from that of the system
// calls.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "bench/memory/schemes/scheme.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside::bench {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::int64_t kNoPlace = -1;
constexpr std::size_t kArena = std::size_t{1} << 40;  // only addresses, for all arrays one after another

struct Page {
  char* address = nullptr;
  std::int64_t place = kNoPlace;  // the page's offset in the swap file
  Page* next = nullptr;
  Page* before = nullptr;
  bool resident = false;
};

/// Pages in order of their arrival.
struct List {
  Page* first = nullptr;
  Page* last = nullptr;

  void append(Page* page) {
    page->before = last;
    page->next = nullptr;
    (last != nullptr ? last->next : first) = page;
    last = page;
  }
  void remove(Page* page) {
    (page->before != nullptr ? page->before->next : first) = page->next;
    (page->next != nullptr ? page->next->before : last) = page->before;
  }
  Page* search(const char* address) const {
    Page* page = first;
    while (page != nullptr && page->address != address) page = page->next;
    return page;
  }
};

/// Ends the process: a handler cannot throw.
[[noreturn]] void give_up(const char* what) {
  const char* reason = strerrordesc_np(errno);
  for (const char* text : {"michel: ", what, ": ", reason, "\n"}) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  _exit(static_cast<int>(ExitCode::kSystem));
}

class MichelScheme : public Scheme {
 public:
  MichelScheme(const std::string& folder, std::uint64_t limit_bytes, bool table, const FarTiming& timing)
      : limit_pages_(limit_bytes / kPage), table_(table), timing_(timing) {
    const std::string path = folder + "/michel.swap";
    file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file_.valid()) throw system_error("{}: {}", path, errno_text(errno));
    unlink(path.c_str());
    base_ = static_cast<char*>(mmap(nullptr, kArena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base_ == MAP_FAILED) throw system_error("michel: {}", errno_text(errno));
    current_ = this;
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) { current_->fault(static_cast<char*>(info->si_addr)); };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &former_);
  }
  ~MichelScheme() override {
    sigaction(SIGSEGV, &former_, nullptr);
    munmap(base_, kArena);
    munmap(pages_, kArena / kPage * sizeof(Page));
  }

  void* reserve(std::size_t bytes) override {
    const std::size_t begin = count_;
    count_ += (bytes + kPage - 1) / kPage;
    if (pages_ == nullptr) {  // the array must never move, because the lists point into it
      void* all = mmap(nullptr, kArena / kPage * sizeof(Page), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (all == MAP_FAILED) throw system_error("michel: {}", errno_text(errno));
      pages_ = static_cast<Page*>(all);
    }
    // Allocates a place for each page now, so that the figures do not include the time in which the file grows.
    if (const int error = posix_fallocate(file_.get(), 0, static_cast<off_t>(count_ * kPage)); error != 0) {
      throw system_error("michel: swap file of {} bytes: {}", count_ * kPage, errno_text(error));
    }
    for (std::size_t i = begin; i < count_; ++i) {
      pages_[i] = Page{.address = base_ + i * kPage};
      absent_.append(&pages_[i]);
    }
    return base_ + begin * kPage;
  }

  Json account() const override {
    return {{"faults", faults_.load()},
            {"fault_s", static_cast<double>(fault_ns_.load()) * 1e-9},
            {"evicted", places_out_}};
  }

 private:
  void fault(char* address) {
    const std::int64_t begin_ns = now_ns();
    if (address < base_ || address >= base_ + count_ * kPage) {
      signal(SIGSEGV, SIG_DFL);  // the program's own fault: the repeated access ends the program
      return;
    }
    char* start = base_ + static_cast<std::size_t>(address - base_) / kPage * kPage;
    const std::lock_guard held(lock_);
    if (resident_ >= limit_pages_) swap_out(present_.first);
    swap_in(start);
    faults_.fetch_add(1, std::memory_order_relaxed);
    fault_ns_.fetch_add(now_ns() - begin_ns, std::memory_order_relaxed);
  }

  void swap_in(char* address) {
    Page* page = table_ ? &pages_[static_cast<std::size_t>(address - base_) / kPage] : absent_.search(address);
    if (page == nullptr || page->resident) return;  // another thread has loaded it
    constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    if (page->place == kNoPlace) {
      if (mmap(address, kPage, PROT_READ | PROT_WRITE, kAnonymous | MAP_FIXED, -1, 0) == MAP_FAILED) give_up("mmap");
    } else {
      void* fresh = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, kAnonymous, -1, 0);
      if (fresh == MAP_FAILED) give_up("mmap");
      transfer(fresh, page->place, false);
      if (mremap(fresh, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, address) == MAP_FAILED) give_up("mremap");
    }
    absent_.remove(page);
    present_.append(page);
    page->resident = true;
    ++resident_;
  }

  // From mprotect on, writers wait in the handler, so that none of their stores is lost.
  void swap_out(Page* page) {
    if (page->place == kNoPlace) page->place = static_cast<std::int64_t>(kPage) * places_++;
    if (mprotect(page->address, kPage, PROT_READ) != 0) give_up("mprotect (vm.max_map_count?)");
    transfer(page->address, page->place, true);
    if (mmap(page->address, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED) {
      give_up("mmap");
    }
    present_.remove(page);
    absent_.append(page);
    page->resident = false;
    --resident_;
    ++places_out_;
  }

  void transfer(void* page, std::int64_t place, bool out) {
    const std::int64_t begin_ns = now_ns();
    void* far = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), place);
    if (far == MAP_FAILED) give_up("mmap of the swap file");
    std::memcpy(out ? far : page, out ? page : far, kPage);
    munmap(far, kPage);
    timing_.wait(begin_ns, kPage, out);
  }

  inline static MichelScheme* current_ = nullptr;
  std::uint64_t limit_pages_;
  bool table_;
  FarTiming timing_;
  UniqueFd file_;
  char* base_ = nullptr;
  Page* pages_ = nullptr;
  std::size_t count_ = 0;
  std::mutex lock_;
  List present_;
  List absent_;
  std::uint64_t resident_ = 0;
  std::int64_t places_ = 0;
  std::uint64_t places_out_ = 0;
  std::atomic<std::uint64_t> faults_ = 0;
  std::atomic<std::int64_t> fault_ns_ = 0;
  struct sigaction former_ {};
};

}  // namespace

std::unique_ptr<Scheme> michel_scheme(const Words& words, const FarTiming& timing) {
  const bool table = words.size() == 3 && words[2] == "table";
  if (words.size() != 2 && !table) {
    throw usage_error("--memory: found 'michel' with {} words, expected michel:DIR:LIMIT[:table]", words.size());
  }
  return std::make_unique<MichelScheme>(words[0], bytes_of(words[1]), table, timing);
}

}  // namespace ringside::bench
