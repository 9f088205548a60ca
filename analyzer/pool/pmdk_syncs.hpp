// SPDX-License-Identifier: BSD-3-Clause
// Catches failures of msync in libpmemobj and libpmemlog. On a plain file every persist of libpmemobj is an msync. If
// an msync fails, libpmemobj calls abort(): in pmemobj_create, pmemobj_open (run_id, lanes), pmemobj_alloc,
// pmemobj_root and even pmemobj_close (statistics). libpmemlog ignores a failure, and aborts only when it creates a
// log. Instead of this, the process must end with its own error line. So this file defines msync for the program: while
// a PmdkSyncs is in scope, it stores that an msync of its thread has failed, and the library continues until its call
// returns.
#pragma once

namespace ringside {

class PmdkSyncs {
 public:
  PmdkSyncs() noexcept;
  ~PmdkSyncs();
  PmdkSyncs(const PmdkSyncs&) = delete;
  PmdkSyncs& operator=(const PmdkSyncs&) = delete;

  /// The errno value of the first msync that failed; 0: everything the libraries persisted is on the disk.
  int error() const noexcept { return error_; }

  void note(int error) noexcept;

 private:
  PmdkSyncs* const outer_;
  int error_ = 0;
};

}  // namespace ringside
