// The mark on a pool file whose creation is under way: a lock of its own (fcntl, of the open file), beside the one that
// says who owns a pool (flock), which libpmemobj takes anew while it makes a pool. It goes with its process. Others ask
// for it without taking anything themselves, so that a reader is in no creator's way.
#pragma once

namespace ringside {

/// fd: the file, open for writing. Where the file system knows no such locks there is no mark.
void mark_as_being_made(int fd) noexcept;
void unmark_as_being_made(int fd) noexcept;

/// True while another open file has marked it. fd: the file, as one may have opened it.
bool is_being_made(int fd) noexcept;

}  // namespace ringside
