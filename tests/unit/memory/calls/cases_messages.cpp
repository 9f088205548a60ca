// SPDX-License-Identifier: BSD-3-Clause
// System calls that wait, and system calls that pass messages: sockets, polling, System V and POSIX queues,
// asynchronous input.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/memory/calls/room.hpp"

namespace ringside::testing {
namespace {

int ready_event() {
  return eventfd(1, 0);
}

struct Pair {
  int ends[2];
  explicit Pair(int type) { socketpair(AF_UNIX, type, 0, ends); }
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// Returns a listening socket with one waiting connection.
int listener() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  bind(file, reinterpret_cast<sockaddr*>(&address), length);
  listen(file, 4);
  getsockname(file, reinterpret_cast<sockaddr*>(&address), &length);
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  connect(caller, reinterpret_cast<sockaddr*>(&address), length);
  return file;
}

msghdr* message(Room& r, char* one, size_t length, char* two = nullptr, size_t second = 0) {
  msghdr header{};
  header.msg_iov = r.links<iovec>({{one, length}, {two, second}});
  header.msg_iovlen = 2;
  return r.links<msghdr>({header});
}

aio_context_t context_of_one() {
  aio_context_t context = 0;
  return syscall(SYS_io_setup, 1, &context) == 0 ? context : 0;
}

struct Queue {
  long descriptor;
  Queue() {
    mq_attr attributes{};
    attributes.mq_maxmsg = 4;
    attributes.mq_msgsize = 64;
    descriptor = syscall(SYS_mq_open, "ringside-memory-calls", O_CREAT | O_RDWR, 0600, &attributes);
    syscall(SYS_mq_unlink, "ringside-memory-calls");
  }
};

struct SysV {
  long type;
  char text[5000];
};

}  // namespace

std::vector<Case> message_cases() {
  std::vector<Case> all;
  CALL_OF(poll, kVolatile, r.array<pollfd>({{ready_event(), POLLIN, 0}}), 1, -1);
  CASE(ppoll, kVolatile, [](Room& r) {
    r.call(SYS_ppoll, r.array<pollfd>({{ready_event(), POLLIN, 0}}), 1, r.array<long>({1, 0}), r.value(uint64_t{0}), 8);
  });
  CASE(select, kVolatile, [](Room& r) {
    const int file = ready_event();
    uint64_t set[16] = {uint64_t{1} << file};
    char* const there = r.bytes(set, sizeof set);
    r.call(SYS_select, file + 1, there, nullptr, nullptr, r.array<long>({1, 0}));
  });
  CASE(pselect6, kVolatile, [](Room& r) {
    const int file = ready_event();
    uint64_t set[16] = {uint64_t{1} << file};
    char* const there = r.bytes(set, sizeof set);
    char* const mask = r.zeros(8);
    r.call(SYS_pselect6, file + 1, there, nullptr, nullptr, r.array<long>({1, 0}),
           r.links<uint64_t>({address_of(mask), 8}));
  });
  CASE(epoll_ctl, kSame, [](Room& r) {
    const int poller = epoll_create1(0);
    r.call(SYS_epoll_ctl, poller, EPOLL_CTL_ADD, ready_event(), r.array<uint32_t>({EPOLLIN, 5, 6}));
    r.call(SYS_epoll_wait, poller, r.zeros(36), 3, -1);
    r.call(SYS_epoll_pwait, poller, r.zeros(36), 3, -1, r.zeros(8), 8);
    r.call(SYS_epoll_pwait2, poller, r.zeros(36), 3, r.array<long>({1, 0}), r.zeros(8), 8);
  });
  CASE(epoll_wait, kSame, [](Room& r) {
    const int poller = epoll_create1(0);
    epoll_event event{};
    event.events = EPOLLIN;
    epoll_ctl(poller, EPOLL_CTL_ADD, ready_event(), &event);
    r.call(SYS_epoll_wait, poller, r.zeros(36), 3, -1);
  });
  CALL(epoll_pwait, epoll_create1(0), r.zeros(36), 3, 0, r.zeros(8), 8);
  CALL(epoll_pwait2, epoll_create1(0), r.zeros(36), 3, r.array<long>({0, 0}), r.zeros(8), 8);
  CALL_OF(signalfd, kDescriptor, -1, r.value(uint64_t{1} << 9), 8);
  CALL_OF(signalfd4, kDescriptor, -1, r.value(uint64_t{1} << 9), 8, 0);
  CASE(timerfd_settime, kVolatile, [](Room& r) {
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    r.call(SYS_timerfd_settime, timer, 0, r.array<long>({0, 0, 100, 0}), r.zeros(32));
    r.call(SYS_timerfd_gettime, timer, r.zeros(32));
  });
  CALL(timerfd_gettime, timerfd_create(CLOCK_MONOTONIC, 0), r.zeros(32));
  CASE(connect, kSame, [](Room& r) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "nowhere");
    r.call(SYS_connect, socket(AF_UNIX, SOCK_STREAM, 0), r.value(address), sizeof address);
  });
  CASE(bind, kSame, [](Room& r) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "here");
    r.call(SYS_bind, socket(AF_UNIX, SOCK_STREAM, 0), r.value(address), sizeof address);
  });
  CASE(accept, kVolatile | kDescriptor,
       [](Room& r) { r.call(SYS_accept, listener(), r.zeros(16), r.value(uint32_t{16})); });
  CASE(accept4, kVolatile | kDescriptor,
       [](Room& r) { r.call(SYS_accept4, listener(), r.zeros(16), r.value(uint32_t{16}), 0); });
  CALL_OF(getsockname, kVolatile, listener(), r.zeros(16), r.value(uint32_t{16}));
  CASE(getpeername, kVolatile,
       [](Room& r) { r.call(SYS_getpeername, Pair(SOCK_STREAM).ends[0], r.zeros(16), r.value(uint32_t{16})); });
  CASE(sendto, kSame, [](Room& r) {
    const Pair pair(SOCK_DGRAM);
    r.call(SYS_sendto, pair.ends[0], r.text("datagram"), 9, 0, nullptr, 0);
    r.call(SYS_recvfrom, pair.ends[1], r.zeros(64), 64, 0, nullptr, nullptr);
  });
  CASE(recvfrom, kVolatile, [](Room& r) {
    const int file = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    r.note(bind(file, reinterpret_cast<sockaddr*>(&address), length));
    getsockname(file, reinterpret_cast<sockaddr*>(&address), &length);
    r.call(SYS_sendto, file, r.text("to myself"), 10, 0, r.value(address), length);
    char* const text = r.zeros(64);
    r.call(SYS_recvfrom, file, text, 64, 0, r.zeros(16), r.value(uint32_t{16}));
    r.note(std::strcmp(text, "to myself"));
  });
  CASE(sendmsg, kSame, [](Room& r) {
    const Pair pair(SOCK_SEQPACKET);
    r.call(SYS_sendmsg, pair.ends[0], message(r, r.text("one"), 3, r.text("two"), 4), 0);
    r.call(SYS_recvmsg, pair.ends[1], message(r, r.zeros(5), 5, r.zeros(5), 5), 0);
  });
  CASE_BY_NUMBER("sendmsg and recvmsg with the structures elsewhere", SYS_sendmsg, kSame, [](Room& r) {
    const Pair pair(SOCK_STREAM);
    iovec segments[2] = {{r.text("one"), 3}, {r.text("two"), 4}};
    msghdr header{};
    header.msg_iov = segments;
    header.msg_iovlen = 2;
    r.evict();
    r.note(sendmsg(pair.ends[0], &header, 0));
    segments[0] = {r.zeros(7), 7};
    header.msg_iovlen = 1;
    r.evict();
    r.note(recvmsg(pair.ends[1], &header, 0));
  });
  CASE(recvmsg, kVolatile, [](Room& r) {
    const Pair pair(SOCK_STREAM);
    r.note(write(pair.ends[1], "abcdef", 6));
    char* const text = r.zeros(6);
    r.call(SYS_recvmsg, pair.ends[0], message(r, text, 6), 0);
    r.note(text[5]);
  });
  CASE(sendmmsg, kVolatile, [](Room& r) {
    const Pair pair(SOCK_SEQPACKET);
    char* const one = r.text("one");
    mmsghdr both[2] = {};
    both[0].msg_hdr = *message(r, one, 4);
    both[1].msg_hdr = *message(r, r.text("second"), 7);
    char* const there = r.bytes(both, sizeof both);
    r.call(SYS_sendmmsg, pair.ends[0], there, 2, 0);
    char* const got = r.zeros(8);
    both[0].msg_hdr = *message(r, one, 4);
    both[1].msg_hdr = *message(r, got, 8);
    r.evict();
    r.note(recvmmsg(pair.ends[1], both, 2, 0, nullptr));
    r.note(got[0]);
  });
  CASE(recvmmsg, kVolatile, [](Room& r) {
    const Pair pair(SOCK_SEQPACKET);
    r.note(write(pair.ends[1], "abcdef", 6));
    mmsghdr one{};
    one.msg_hdr = *message(r, r.zeros(6), 6);
    r.call(SYS_recvmmsg, pair.ends[0], r.value(one), 1, 0, r.array<long>({1, 0}));
  });
  CALL_OF(socketpair, kVolatile, AF_UNIX, SOCK_STREAM, 0, r.zeros(8));
  CALL(setsockopt, socket(AF_INET, SOCK_STREAM, 0), SOL_SOCKET, SO_REUSEADDR, r.value(int{1}), 4);
  CASE_BY_NUMBER("setsockopt SO_ATTACH_FILTER", SYS_setsockopt, kSame, [](Room& r) {
    sock_filter code[1] = {{BPF_RET | BPF_K, 0, 0, 100}};
    char* const there = r.bytes(code, sizeof code);
    const uint64_t at = address_of(there);
    r.call(SYS_setsockopt, socket(AF_INET, SOCK_DGRAM, 0), SOL_SOCKET, 26, r.links<uint64_t>({1, at}), 16);
  });
  CALL(getsockopt, socket(AF_INET, SOCK_STREAM, 0), SOL_SOCKET, SO_TYPE, r.zeros(4), r.value(uint32_t{4}));
  CASE(fcntl, kSame, [](Room& r) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    r.call(SYS_fcntl, open("f", O_RDWR), F_OFD_GETLK, r.value(lock));
  });
  CASE(semop, kSame, [](Room& r) {
    const int set = semget(IPC_PRIVATE, 3, 0600);
    if (set < 0) return r.note(-ENOSYS);
    r.call(SYS_semop, set, r.array<sembuf>({{0, 1, 0}, {1, 2, 0}}), 2);
    r.call(SYS_semtimedop, set, r.array<sembuf>({{1, -1, 0}}), 1, r.array<long>({1, 0}));
    r.call(SYS_semctl, set, 0, GETALL, r.zeros(6));
    r.note(semctl(set, 0, IPC_RMID));
  });
  CASE(semtimedop, kSame, [](Room& r) {
    const int set = semget(IPC_PRIVATE, 1, 0600);
    if (set < 0) return r.note(-ENOSYS);
    r.call(SYS_semtimedop, set, r.array<sembuf>({{0, 1, 0}}), 1, r.array<long>({1, 0}));
    r.note(semctl(set, 0, IPC_RMID));
  });
  CASE(semctl, kSame, [](Room& r) {
    const int set = semget(IPC_PRIVATE, 3, 0600);
    if (set < 0) return r.note(-ENOSYS);
    r.call(SYS_semctl, set, 0, SETALL, r.array<uint16_t>({4, 5, 6}));
    r.call(SYS_semctl, set, 0, GETALL, r.zeros(6));
    r.note(semctl(set, 0, IPC_RMID));
  });
  CASE(msgsnd, kSame, [](Room& r) {
    const int queue = msgget(IPC_PRIVATE, 0600);
    if (queue < 0) return r.note(-ENOSYS);
    SysV sent{1, "message"};
    r.call(SYS_msgsnd, queue, r.value(sent), 5000, 0);
    r.call(SYS_msgrcv, queue, r.zeros(5008), 5000, 0, 0);
    r.note(msgctl(queue, IPC_RMID, nullptr));
  });
  CASE(msgrcv, kSame, [](Room& r) {
    const int queue = msgget(IPC_PRIVATE, 0600);
    if (queue < 0) return r.note(-ENOSYS);
    SysV sent{1, "message"};
    r.note(msgsnd(queue, &sent, 100, 0));
    r.call(SYS_msgrcv, queue, r.zeros(5008), 5000, 0, 0);
    r.note(msgctl(queue, IPC_RMID, nullptr));
  });
  CASE(msgctl, kVolatile, [](Room& r) {
    const int queue = msgget(IPC_PRIVATE, 0600);
    if (queue < 0) return r.note(-ENOSYS);
    r.call(SYS_msgctl, queue, IPC_STAT, r.zeros(sizeof(msqid_ds)));
    r.note(msgctl(queue, IPC_RMID, nullptr));
  });
  CASE(shmctl, kVolatile, [](Room& r) {
    const int segment = shmget(IPC_PRIVATE, 4096, 0600);
    if (segment < 0) return r.note(-ENOSYS);
    r.call(SYS_shmctl, segment, IPC_STAT, r.zeros(sizeof(shmid_ds)));
    r.note(shmctl(segment, IPC_RMID, nullptr));
  });
  CALL_OF(mq_open, kDescriptor, r.text("ringside-memory-calls-0"), O_RDONLY, 0, r.zeros(64));
  CALL(mq_unlink, r.text("ringside-memory-calls-none"));
  CASE(mq_timedsend, kSame, [](Room& r) {
    const Queue queue;
    if (queue.descriptor < 0) return r.note(-ENOSYS);
    r.call(SYS_mq_timedsend, queue.descriptor, r.text("message"), 8, 3, r.array<long>({1, 0}));
    r.call(SYS_mq_timedreceive, queue.descriptor, r.zeros(64), 64, r.zeros(4), r.array<long>({1, 0}));
  });
  CASE(mq_timedreceive, kSame, [](Room& r) {
    const Queue queue;
    if (queue.descriptor < 0) return r.note(-ENOSYS);
    r.note(syscall(SYS_mq_timedsend, queue.descriptor, "message", 8, 3, nullptr));
    r.call(SYS_mq_timedreceive, queue.descriptor, r.zeros(64), 64, r.zeros(4), nullptr);
  });
  CASE(mq_notify, kSame, [](Room& r) {
    const Queue queue;
    if (queue.descriptor < 0) return r.note(-ENOSYS);
    uint32_t event[16] = {0, 0, 0, SIGEV_NONE};
    r.call(SYS_mq_notify, queue.descriptor, r.bytes(event, sizeof event));
  });
  CASE(mq_getsetattr, kSame, [](Room& r) {
    const Queue queue;
    if (queue.descriptor < 0) return r.note(-ENOSYS);
    r.call(SYS_mq_getsetattr, queue.descriptor, r.zeros(64), r.zeros(64));
  });
  CALL_OF(io_setup, kVolatile, 1, r.zeros(8));
  CASE(io_submit, kVolatile, [](Room& r) {
    const aio_context_t context = context_of_one();
    if (context == 0) return r.note(-ENOSYS);
    char* const text = r.zeros(5000);
    iocb block{};
    block.aio_lio_opcode = IOCB_CMD_PREAD;
    block.aio_fildes = static_cast<uint32_t>(open("f", O_RDONLY));
    block.aio_buf = address_of(text);
    block.aio_nbytes = 5000;
    block.aio_offset = 7;
    iocb* const there = r.value(block);
    r.call(SYS_io_submit, context, 1, r.links<iocb*>({there}));
    char* const event = r.zeros(32);
    r.call(SYS_io_getevents, context, 1, 1, event, nullptr);
    int64_t moved = 0;
    std::memcpy(&moved, event + 16, sizeof moved);
    r.note(moved);
    r.note(text[4999]);
    iocb* elsewhere[1] = {&block};  // array and block are on the stack, the content is in the room
    r.evict();
    r.note(syscall(SYS_io_submit, context, 1, elsewhere));
    r.note(syscall(SYS_io_getevents, context, 1, 1, event, nullptr));
    std::memcpy(&moved, event + 16, sizeof moved);
    r.note(moved);
  });
  CASE(io_getevents, kVolatile, [](Room& r) {
    r.call(SYS_io_getevents, context_of_one(), 0, 1, r.zeros(32), r.array<long>({0, 0}));
  });
  CASE(io_pgetevents, kVolatile, [](Room& r) {
    r.call(SYS_io_pgetevents, context_of_one(), 0, 1, r.zeros(32), r.array<long>({0, 0}), r.array<uint64_t>({0, 0}));
  });
  CASE(io_cancel, kVolatile, [](Room& r) { r.call(SYS_io_cancel, context_of_one(), r.zeros(64), r.zeros(32)); });
  return all;
}

}  // namespace ringside::testing
