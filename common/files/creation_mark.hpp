// SPDX-License-Identifier: BSD-3-Clause
// The mark on a pool file that is still being created: a lock that the open file description holds (fcntl). The mark is
// separate from the owner's lock (flock), because libpmemobj takes the owner's lock again while it makes a pool. The
// kernel removes the mark when the creating process ends. Other processes query the mark without taking a lock, so that
// a reader never delays a creator.
#pragma once

namespace ringside {

/// Marks a file as being created. fd: the file, open for writing. Does nothing on a file system without such locks.
void mark_as_being_made(int fd) noexcept;
void unmark_as_being_made(int fd) noexcept;

/// True while another open file description has marked the file. fd: the file, in any open mode.
bool is_being_made(int fd) noexcept;

}  // namespace ringside
