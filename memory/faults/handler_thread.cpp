// SPDX-License-Identifier: BSD-3-Clause
#include "memory/faults/handler_thread.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>

#include "memory/arena/geometry.hpp"
#include "memory/faults/bus_errors.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit HandlerThread handler_thread;

int HandlerThread::start(const UserFault& userfault) noexcept {
  userfault_ = &userfault;
  const long made = out_of_the_way(raw(SYS_eventfd2, 0, O_CLOEXEC));
  if (made < 0) return static_cast<int>(-made);
  wake_ = static_cast<int>(made);
  raw(SYS_fcntl, userfault.descriptor, F_SETFL, O_NONBLOCK);  // another reader may take the event between poll and read
  const SignalsBlocked blocked;                               // inherited by the new thread, which handles no signals
  running_.store(0);
  const int error = pthread_create(&thread_, nullptr, run, this);
  // Waits until the thread has set its signal mask. The thread begins with all signals blocked. If a system call filter
  // were installed before then, the thread's call that sets the mask would end the process.
  while (error == 0 && running_.load() == 0) sleep_while(&running_, 0);
  if (error != 0) forget();
  return error;
}

void HandlerThread::stop() noexcept {
  if (wake_ < 0) return;
  const uint64_t one = 1;
  raw(SYS_write, wake_, as_long(&one), sizeof one);
  pthread_join(thread_, nullptr);
  forget();
}

void HandlerThread::forget() noexcept {
  if (wake_ >= 0) raw(SYS_close, wake_);
  wake_ = -1;
}

void* HandlerThread::run(void* self) noexcept {
  auto& here = *static_cast<HandlerThread*>(self);
  here.running_.store(1);
  wake_all(&here.running_);
  here.serve();
  return nullptr;
}

void HandlerThread::serve() noexcept {
  for (;;) {
    pollfd ready[2] = {{userfault_->descriptor, POLLIN, 0}, {wake_, POLLIN, 0}};
    const long got = raw(SYS_ppoll, as_long(ready), 2, 0, 0, 0);
    if (got < 0 && got != -EINTR) die("cannot wait for faults (ppoll)", got);
    if (ready[1].revents != 0) return;
    uffd_msg messages[8];
    const long bytes = raw(SYS_read, userfault_->descriptor, as_long(messages), sizeof messages);
    if (bytes == -EAGAIN || bytes == -EINTR) continue;
    if (bytes < 0) die("cannot read faults (userfaultfd)", bytes);
    for (long i = 0; i * static_cast<long>(sizeof messages[0]) < bytes; ++i) {
      const uffd_msg& message = messages[i];
      if (message.event != UFFD_EVENT_PAGEFAULT) continue;
      auto* const address =
          reinterpret_cast<char*>(static_cast<uintptr_t>(message.arg.pagefault.address & ~(kPage - 1)));
      const auto flags = message.arg.pagefault.flags;
      serve_fault(address, (flags & (UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP)) != 0);
      userfault_->wake(address, kPage);  // even if no page was missing
    }
  }
}

}  // namespace ringside::memory
