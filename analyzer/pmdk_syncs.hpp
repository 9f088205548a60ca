// What libpmemobj and libpmemlog do with msync. On a plain file every persist of libpmemobj is an msync, and where one
// fails it calls abort(): in pmemobj_create, pmemobj_open (run_id, lanes), pmemobj_alloc, pmemobj_root and even in
// pmemobj_close (statistics). libpmemlog ignores its failures, and aborts only where it makes a log. Nothing of that is
// an end for a process that has something to say. So this file defines msync for the program; while a PmdkSyncs is in
// scope, a failing msync of its thread is noted there, and the library goes on to a point where it can be left.
#pragma once

namespace ringside {

class PmdkSyncs {
 public:
  PmdkSyncs() noexcept;
  ~PmdkSyncs();
  PmdkSyncs(const PmdkSyncs&) = delete;
  PmdkSyncs& operator=(const PmdkSyncs&) = delete;

  /// The errno value of the first msync that failed, or 0: what the libraries persisted is on the disk.
  int error() const noexcept { return error_; }

  void note(int error) noexcept;

 private:
  PmdkSyncs* const outer_;
  int error_ = 0;
};

}  // namespace ringside
