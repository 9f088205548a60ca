// SPDX-License-Identifier: BSD-3-Clause
// System calls on files, folders and mounts, and on their attributes. Each case runs in its own folder, which contains
// the file "f" (10,000 bytes), the folder "d" and the symbolic link "l".
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/memory/calls/room.hpp"

namespace ringside::testing {
namespace {

int opened() {
  return open("f", O_RDWR);
}

constexpr char kPayload[] = "what is written from absent memory";

// Writes with the call `number` (write or pwrite64), and records the file's content afterwards.
void write_by(long number, Room& r, off_t at) {
  const int file = open("f2", O_CREAT | O_RDWR, 0600);
  r.call(number, file, r.bytes(kPayload, sizeof kPayload), sizeof kPayload, at);
  char back[sizeof kPayload] = {};
  r.note(pread(file, back, sizeof back, at));
  r.note(std::memcmp(back, kPayload, sizeof back));
}

}  // namespace

std::vector<Case> file_cases() {
  std::vector<Case> all;
  CALL(read, opened(), r.zeros(9000), 9000);
  CASE(write, kSame, [](Room& r) { write_by(SYS_write, r, 0); });
  CALL_OF(open, kDescriptor, r.text("f"), O_RDONLY);
  CALL_OF(stat, kVolatile, r.text("f"), r.zeros(144));
  CALL_OF(fstat, kVolatile, opened(), r.zeros(144));
  CALL_OF(lstat, kVolatile, r.text("l"), r.zeros(144));
  CALL(ioctl, opened(), FIONREAD, r.zeros(4));
  CASE_BY_NUMBER("ioctl FS_IOC_FIEMAP", SYS_ioctl, kVolatile | kForgives,
                 [](Room& r) { r.call(SYS_ioctl, opened(), 0xc020660bu, r.zeros(32)); });
  CALL(pread64, opened(), r.zeros(5000), 5000, 777);
  CASE(pwrite64, kSame, [](Room& r) { write_by(SYS_pwrite64, r, 100); });
  CASE(readv, kSame, [](Room& r) {
    char* const one = r.zeros(3000);
    char* const two = r.zeros(5000);
    r.call(SYS_readv, opened(), r.links<iovec>({{one, 3000}, {two, 5000}}), 2);
  });
  CASE_BY_NUMBER("readv with the array elsewhere", SYS_readv, kSame, [](Room& r) {
    const iovec segments[2] = {{r.zeros(3000), 3000}, {r.zeros(5000), 5000}};
    r.evict();
    r.note(readv(opened(), segments, 2));
  });
  CASE(writev, kSame, [](Room& r) {
    const int file = open("f2", O_CREAT | O_RDWR, 0600);
    char* const text = r.bytes(kPayload, sizeof kPayload);
    r.call(SYS_writev, file, r.links<iovec>({{text, 10}, {text + 10, 20}}), 2);
    r.note(pread(file, r.zeros(64), 64, 0));
  });
  CASE_BY_NUMBER("writev with the array elsewhere", SYS_writev, kSame, [](Room& r) {
    const int file = open("f2", O_CREAT | O_RDWR, 0600);
    const iovec segments[1] = {{r.bytes(kPayload, sizeof kPayload), sizeof kPayload}};
    r.evict();
    r.note(writev(file, segments, 1));
  });
  CASE(preadv, kSame, [](Room& r) {
    char* const one = r.zeros(3000);
    r.call(SYS_preadv, opened(), r.links<iovec>({{one, 3000}}), 1, 500, 0);
    const iovec elsewhere{one, 3000};
    r.evict();
    r.note(preadv(opened(), &elsewhere, 1, 600));
  });
  CASE(pwritev, kSame, [](Room& r) {
    const int file = open("f2", O_CREAT | O_RDWR, 0600);
    char* const one = r.bytes(kPayload, sizeof kPayload);
    r.call(SYS_pwritev, file, r.links<iovec>({{one, 30}}), 1, 500, 0);
    const iovec elsewhere{one, 30};
    r.evict();
    r.note(pwritev(file, &elsewhere, 1, 600));
    r.note(pread(file, r.zeros(200), 200, 500));
  });
  CASE(preadv2, kSame, [](Room& r) {
    char* const one = r.zeros(3000);
    r.call(SYS_preadv2, opened(), r.links<iovec>({{one, 3000}}), 1, -1, 0, 0);
    const iovec elsewhere{one, 3000};
    r.evict();
    r.note(preadv2(opened(), &elsewhere, 1, 600, 0));
  });
  CASE(pwritev2, kSame, [](Room& r) {
    const int file = open("f2", O_CREAT | O_RDWR, 0600);
    char* const one = r.bytes(kPayload, sizeof kPayload);
    r.call(SYS_pwritev2, file, r.links<iovec>({{one, 30}}), 1, -1, 0, 0);
    const iovec elsewhere{one, 30};
    r.evict();
    r.note(pwritev2(file, &elsewhere, 1, 600, 0));
  });
  CALL(access, r.text("f"), R_OK);
  CASE(pipe, kVolatile, [](Room& r) { r.call(SYS_pipe, r.zeros(8)); });
  CASE(pipe2, kVolatile, [](Room& r) { r.call(SYS_pipe2, r.zeros(8), O_CLOEXEC); });
  CASE(sendfile, kSame,
       [](Room& r) { r.call(SYS_sendfile, open("f2", O_CREAT | O_RDWR, 0600), opened(), r.value(off_t{1000}), 500); });
  CALL(truncate, r.text("f"), 5);
  CALL_OF(getdents, kVolatile | kSign, open(".", O_RDONLY), r.zeros(1000), 1000);
  CALL_OF(getdents64, kVolatile | kSign, open(".", O_RDONLY), r.zeros(1000), 1000);
  CALL_OF(getcwd, kVolatile | kSign, r.zeros(4096), 4096);
  CALL(chdir, r.text("d"));
  CALL(rename, r.text("f"), r.text("g"));
  CALL(mkdir, r.text("e"), 0700);
  CALL(rmdir, r.text("d"));
  CALL_OF(creat, kDescriptor, r.text("new"), 0600);
  CALL(link, r.text("f"), r.text("g"));
  CALL(unlink, r.text("f"));
  CALL(symlink, r.text("anything"), r.text("g"));
  CALL(readlink, r.text("l"), r.zeros(100), 100);
  CALL(chmod, r.text("f"), 0640);
  CALL(chown, r.text("f"), -1, -1);
  CALL(lchown, r.text("l"), -1, -1);
  CALL(utime, r.text("f"), r.array<long>({1, 2}));
  CALL(mknod, r.text("p"), S_IFIFO | 0600, 0);
  CASE(ustat, kVolatile, [](Room& r) {
    struct stat about {};
    stat(".", &about);
    r.call(SYS_ustat, about.st_dev, r.zeros(32));
  });
  CALL_OF(statfs, kVolatile, r.text("f"), r.zeros(120));
  CALL_OF(fstatfs, kVolatile, opened(), r.zeros(120));
  CALL(sysfs, 1, r.text("tmpfs"));
  CALL(pivot_root, r.text("nowhere"), r.text("nowhere"));
  CALL(chroot, r.text("nowhere"));
  CALL(acct, r.text("nowhere/at/all"));
  CALL(mount, r.text("none"), r.text("nowhere"), r.text("tmpfs"), 0, r.text("size=1M"));
  CALL(umount2, r.text("nowhere"), 0);
  CALL(swapon, r.text("nowhere"), 0);
  CALL(swapoff, r.text("nowhere"));
  CALL(quotactl, 0x80000500 /* Q_GETINFO for users */, r.text("/nowhere"), 0, r.zeros(512));
  CALL(setxattr, r.text("f"), r.text("user.n"), r.text("value"), 5, 0);
  CALL(lsetxattr, r.text("f"), r.text("user.n"), r.text("value"), 5, 0);
  CALL(fsetxattr, opened(), r.text("user.n"), r.text("value"), 5, 0);
  CASE(getxattr, kSame, [](Room& r) {
    r.note(syscall(SYS_setxattr, "f", "user.n", "value", 5, 0));
    r.call(SYS_getxattr, r.text("f"), r.text("user.n"), r.zeros(64), 64);
    r.call(SYS_lgetxattr, r.text("f"), r.text("user.n"), r.zeros(64), 64);
    r.call(SYS_fgetxattr, opened(), r.text("user.n"), r.zeros(64), 64);
  });
  CALL(lgetxattr, r.text("f"), r.text("user.n"), r.zeros(64), 64);
  CALL(fgetxattr, opened(), r.text("user.n"), r.zeros(64), 64);
  CASE(listxattr, kSame, [](Room& r) {
    r.note(syscall(SYS_setxattr, "f", "user.n", "value", 5, 0));
    r.call(SYS_listxattr, r.text("f"), r.zeros(64), 64);
    r.call(SYS_llistxattr, r.text("f"), r.zeros(64), 64);
    r.call(SYS_flistxattr, opened(), r.zeros(64), 64);
  });
  CALL(llistxattr, r.text("f"), r.zeros(64), 64);
  CALL_OF(flistxattr, kForgives, opened(), r.zeros(64), 64);  // without attributes, the kernel writes nothing
  CALL(removexattr, r.text("f"), r.text("user.n"));
  CALL(lremovexattr, r.text("f"), r.text("user.n"));
  CALL(fremovexattr, opened(), r.text("user.n"));
  CALL(utimes, r.text("f"), r.array<long>({1, 2, 3, 4}));
  CALL_OF(inotify_add_watch, kSame, inotify_init1(0), r.text("f"), IN_OPEN);
  CALL_OF(openat, kDescriptor, AT_FDCWD, r.text("f"), O_RDONLY);
  CALL(mkdirat, AT_FDCWD, r.text("e"), 0700);
  CALL(mknodat, AT_FDCWD, r.text("p"), S_IFIFO | 0600, 0);
  CALL(fchownat, AT_FDCWD, r.text("f"), -1, -1, 0);
  CALL(futimesat, AT_FDCWD, r.text("f"), r.array<long>({1, 2, 3, 4}));
  CALL_OF(newfstatat, kVolatile, AT_FDCWD, r.text("f"), r.zeros(144), 0);
  CALL(unlinkat, AT_FDCWD, r.text("f"), 0);
  CALL(renameat, AT_FDCWD, r.text("f"), AT_FDCWD, r.text("g"));
  CALL(linkat, AT_FDCWD, r.text("f"), AT_FDCWD, r.text("g"), 0);
  CALL(symlinkat, r.text("anything"), AT_FDCWD, r.text("g"));
  CALL(readlinkat, AT_FDCWD, r.text("l"), r.zeros(100), 100);
  CALL(fchmodat, AT_FDCWD, r.text("f"), 0640);
  CALL(faccessat, AT_FDCWD, r.text("f"), R_OK);
  CALL(utimensat, AT_FDCWD, r.text("f"), r.array<long>({1, 2, 3, 4}), 0);
  CASE(splice, kSame, [](Room& r) {
    int ends[2];
    r.note(pipe(ends));
    r.call(SYS_splice, opened(), r.value(off_t{100}), ends[1], nullptr, 500, 0);
  });
  CASE(vmsplice, kSame, [](Room& r) {
    int ends[2];
    r.note(pipe(ends));
    char* const text = r.bytes(kPayload, sizeof kPayload);
    r.call(SYS_vmsplice, ends[1], r.links<iovec>({{text, sizeof kPayload}}), 1, 0);
    char back[sizeof kPayload] = {};
    r.note(read(ends[0], back, sizeof back));
    r.note(std::memcmp(back, kPayload, sizeof back));
  });
  CASE(fanotify_mark, kSame, [](Room& r) {
    const int group = fanotify_init(FAN_CLASS_NOTIF, O_RDONLY);
    if (group < 0) return r.note(-EPERM);
    r.call(SYS_fanotify_mark, group, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, r.text("f"));
  });
  CASE(name_to_handle_at, kVolatile, [](Room& r) {
    r.call(SYS_name_to_handle_at, AT_FDCWD, r.text("f"), r.array<uint32_t>({0, 0}), r.zeros(4), 0);
  });
  CASE(open_by_handle_at, kVolatile | kDescriptor, [](Room& r) {
    uint32_t handle[34] = {128};
    int mount = 0;
    if (syscall(SYS_name_to_handle_at, AT_FDCWD, "f", handle, &mount, 0) != 0) return r.note(-EPERM);
    char* const there = r.bytes(handle, sizeof handle);
    r.call(SYS_open_by_handle_at, open(".", O_RDONLY), there, O_RDONLY);
  });
  CALL(renameat2, AT_FDCWD, r.text("f"), AT_FDCWD, r.text("g"), 0);
  CALL_OF(memfd_create, kDescriptor, r.text("name"), 0);
  CASE(copy_file_range, kSame, [](Room& r) {
    const int to = open("f2", O_CREAT | O_RDWR, 0600);
    r.call(SYS_copy_file_range, opened(), r.value(off_t{10}), to, r.value(off_t{20}), 100, 0);
  });
  CALL_OF(statx, kVolatile, AT_FDCWD, r.text("f"), 0, STATX_SIZE, r.zeros(256));
  CALL_OF(open_tree, kDescriptor, AT_FDCWD, r.text("f"), 0);
  CALL(move_mount, AT_FDCWD, r.text("nowhere"), AT_FDCWD, r.text("nowhere"), 0);
  CALL_OF(fsopen, kDescriptor, r.text("tmpfs"), 0);
  CASE(fsconfig, kSame, [](Room& r) {
    const long context = syscall(SYS_fsopen, "tmpfs", 0);
    if (context < 0) return r.note(-EPERM);
    r.call(SYS_fsconfig, context, 1, r.text("size"), r.text("1M"), 0);
  });
  CALL(fspick, AT_FDCWD, r.text("nowhere"), 0);
  CALL_OF(openat2, kDescriptor, AT_FDCWD, r.text("f"), r.value(open_how{}), sizeof(open_how));
  CALL(faccessat2, AT_FDCWD, r.text("f"), R_OK, 0);
  CALL(mount_setattr, AT_FDCWD, r.text("nowhere"), 0, r.array<uint64_t>({1, 0, 0, 0}), 32);
  CASE_BY_NUMBER("quotactl_fd", 443, kForgives,  // the kernel first reports that the file system has no quotas
                 [](Room& r) { r.call(443, opened(), 0x80000500, 0, r.zeros(512)); });
  CASE_BY_NUMBER("landlock_create_ruleset", 444, kDescriptor, [](Room& r) { r.call(444, r.value(uint64_t{1}), 8, 0); });
  CASE_BY_NUMBER("landlock_add_rule", 445, kVolatile, [](Room& r) {
    const uint64_t handled = 1;
    const long rules = syscall(444, &handled, 8, 0);
    if (rules < 0) return r.note(-ENOSYS);
    struct [[gnu::packed]] {
      uint64_t access;
      int32_t folder;
    } rule{1, open("d", O_PATH)};
    r.call(445, rules, 1, r.value(rule), 0);
  });
  CASE_BY_NUMBER("cachestat", 451, kVolatile, [](Room& r) {
    r.call(451, opened(), r.array<uint64_t>({0, 0}), r.zeros(40), 0);
  });
  CASE_BY_NUMBER("fchmodat2", 452, kSame, [](Room& r) { r.call(452, AT_FDCWD, r.text("f"), 0640, 0); });
  CASE_BY_NUMBER("statmount", 457, kVolatile, [](Room& r) {
    struct statx about {};
    r.note(syscall(SYS_statx, AT_FDCWD, ".", 0, 0x4000u /* STATX_MNT_ID_UNIQUE */, &about));
    r.call(457, r.array<uint64_t>({24, about.stx_mnt_id, 2}), r.zeros(512), 512, 0);
  });
  CASE_BY_NUMBER("listmount", 458, kVolatile | kSign, [](Room& r) {
    r.call(458, r.array<uint64_t>({24, UINT64_MAX, 0}), r.zeros(80), 10, 0);
  });
  CASE_BY_NUMBER("setxattrat", 463, kSame, [](Room& r) {
    char* const content = r.text("value");
    const auto at = address_of(content);
    r.call(463, AT_FDCWD, r.text("f"), 0, r.text("user.n"), r.links<uint64_t>({at, 5}), 16);
  });
  CASE_BY_NUMBER("getxattrat", 464, kVolatile, [](Room& r) {
    r.note(syscall(SYS_setxattr, "f", "user.n", "value", 5, 0));
    char* const content = r.zeros(64);
    const auto at = address_of(content);
    r.call(464, AT_FDCWD, r.text("f"), 0, r.text("user.n"), r.links<uint64_t>({at, 64}), 16);
    r.note(content[0]);
  });
  CASE_BY_NUMBER("listxattrat", 465, kSame, [](Room& r) {
    r.note(syscall(SYS_setxattr, "f", "user.n", "value", 5, 0));
    r.call(465, AT_FDCWD, r.text("f"), 0, r.zeros(64), 64);
  });
  CASE_BY_NUMBER("removexattrat", 466, kSame, [](Room& r) { r.call(466, AT_FDCWD, r.text("f"), 0, r.text("user.n")); });
  CASE_BY_NUMBER("open_tree_attr", 467, kDescriptor, [](Room& r) {
    r.call(467, AT_FDCWD, r.text("f"), 0, r.array<uint64_t>({0, 0, 0, 0}), 32);
  });
  CASE_BY_NUMBER("file_getattr", 468, kSame, [](Room& r) { r.call(468, AT_FDCWD, r.text("f"), r.zeros(24), 24, 0); });
  CASE_BY_NUMBER("file_setattr", 469, kSame,
                 [](Room& r) { r.call(469, AT_FDCWD, r.text("nowhere"), r.zeros(24), 24, 0); });
  return all;
}

}  // namespace ringside::testing
