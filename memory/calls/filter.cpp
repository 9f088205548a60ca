// SPDX-License-Identifier: BSD-3-Clause
// The filter's program. It has a search tree over the call numbers; and, for each set of pointer arguments, a block
// that compares the upper halves of these arguments. For calls without pointers, the program ends in the tree. The
// kernel detects that the result for these numbers is constant, and does not run the program for them (since Linux
// 5.11).
#include "memory/calls/filter.hpp"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include <initializer_list>

#include "memory/calls/sites.hpp"
#include "memory/calls/stubs.hpp"
#include "memory/calls/table.hpp"
#include "memory/system/raw.hpp"

#if defined(__x86_64__)

namespace ringside::memory {
namespace {

constexpr uint32_t kMostInstructions = BPF_MAXINSNS, kMostBlocks = 160;
constexpr uint16_t kAllowed = 0, kNoSys = 1, kFirstBlock = 2;

struct Block {
  uint32_t arguments;
  uint32_t sites_of;  // the call number whose sites are tested, or kMostNumber
  uint32_t start;
};

// The program that is being built has its own mapping, because it is too large for a stack.
struct Builder {
  sock_filter code[kMostInstructions];
  uint32_t count;
  bool full;
  uint16_t block_of[kMostNumber];
  Block blocks[kMostBlocks];
  uint32_t block_count;
  struct Jump {
    uint32_t at;
    uint16_t block;
  } jumps[kMostNumber];
  uint32_t jump_count;
  uint32_t jumps_to_end[kMostBlocks];
  uint32_t end_count;
  uint64_t first, last;
  bool covered;

  void put(uint16_t operation, uint32_t k, uint8_t yes = 0, uint8_t no = 0) noexcept {
    if (count == kMostInstructions) {
      full = true;
      return;
    }
    code[count++] = {operation, yes, no, k};
  }
  void load(size_t offset) noexcept { put(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void end(uint32_t action) noexcept { put(BPF_RET | BPF_K, action); }

  // Makes the filter return `action` if the call was made from `address`.
  void from(uint64_t address, uint32_t action) noexcept {
    load(offsetof(seccomp_data, instruction_pointer));
    put(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(address), 0, 3);
    load(offsetof(seccomp_data, instruction_pointer) + 4);
    put(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(address >> 32), 0, 1);
    end(action);
  }

  void tree(uint32_t low, uint32_t high) noexcept {
    uint32_t middle = 0;
    for (uint32_t number = low + 1; number < high; ++number) {
      if (block_of[number] == block_of[number - 1]) continue;
      const auto off = [&](uint32_t at) { return at * 2 > low + high ? at * 2 - low - high : low + high - at * 2; };
      if (middle == 0 || off(number) < off(middle)) middle = number;
    }
    if (middle == 0) {
      if (block_of[low] == kAllowed) {
        end(SECCOMP_RET_ALLOW);
      } else if (block_of[low] == kNoSys) {
        end(SECCOMP_RET_ERRNO | ENOSYS);
      } else {
        jumps[jump_count++] = {count, block_of[low]};
        put(BPF_JMP | BPF_JA, 0);
      }
      return;
    }
    put(BPF_JMP | BPF_JGE | BPF_K, middle, 0, 1);
    const uint32_t jump = count;
    put(BPF_JMP | BPF_JA, 0);
    tree(low, middle);
    code[jump].k = count - jump - 1;
    tree(middle, high);
  }

  void block(Block& here) noexcept {
    here.start = count;
    for (uint32_t i = 0; i < sites.count(); ++i) {
      if (sites.at(i).number == here.sites_of) from(sites.at(i).address, SECCOMP_RET_TRAP | kTrapMark);
    }
    uint32_t hits[6];
    uint32_t hit_count = 0;
    for (uint32_t argument = 0; argument < 6; ++argument) {
      if ((here.arguments >> argument & 1) == 0) continue;
      load(offsetof(seccomp_data, args) + 8 * argument + 4);
      put(BPF_JMP | BPF_JGE | BPF_K, static_cast<uint32_t>(first >> 32), 0, 2);
      put(BPF_JMP | BPF_JGT | BPF_K, static_cast<uint32_t>(last >> 32), 1, 0);
      hits[hit_count++] = count;
      put(BPF_JMP | BPF_JA, 0);
    }
    end(SECCOMP_RET_ALLOW);
    for (uint32_t i = 0; i < hit_count; ++i) code[hits[i]].k = count - hits[i] - 1;
    jumps_to_end[end_count++] = count;
    put(BPF_JMP | BPF_JA, 0);
  }

  uint16_t block_for(const Call& call) noexcept {
    if (covered && !is_nested(call)) return kAllowed;
    if (call.action == Action::kRefused) return kNoSys;
    // Without sites, exec is not trapped and may fail with EFAULT. That is safer than a trap, because the child of
    // posix_spawn may have SIGSYS blocked or reset.
    const bool never = call.action == Action::kExecute && sites.count() == 0;
    const uint32_t arguments = never || covered ? 0 : arguments_of(call);
    const uint32_t sites_of = is_nested(call) ? call.number : kMostNumber;
    for (uint32_t i = 0; i < block_count; ++i) {
      if (blocks[i].arguments == arguments && blocks[i].sites_of == sites_of)
        return static_cast<uint16_t>(kFirstBlock + i);
    }
    if (block_count == kMostBlocks) {
      full = true;
      return kAllowed;
    }
    blocks[block_count] = {arguments, sites_of, 0};
    return static_cast<uint16_t>(kFirstBlock + block_count++);
  }

  void build(uint64_t range_first, uint64_t range_end) noexcept {
    first = range_first;
    last = range_end - 1;
    for (size_t i = 0; i < calls_in_table; ++i) block_of[calls_table[i].number] = block_for(calls_table[i]);
    load(offsetof(seccomp_data, arch));
    put(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    end(SECCOMP_RET_ALLOW);
    load(offsetof(seccomp_data, nr));
    put(BPF_JMP | BPF_JGE | BPF_K, kMostNumber, 0, 13);
    put(BPF_JMP | BPF_JEQ | BPF_K, kFinishNumber, 1, 0);
    end(SECCOMP_RET_ALLOW);
    from(stubs().finish_site, SECCOMP_RET_TRAP | kTrapMark);
    from(fixed_stubs().finish_site, SECCOMP_RET_TRAP | kTrapMark);
    end(SECCOMP_RET_ALLOW);
    tree(0, kMostNumber);
    for (uint32_t i = 0; i < block_count; ++i) block(blocks[i]);
    // The shared end of all blocks: for an argument in the arena, the address of the call decides the action.
    for (uint32_t i = 0; i < end_count; ++i) code[jumps_to_end[i]].k = count - jumps_to_end[i] - 1;
    for (const Stubs& passing : {stubs(), fixed_stubs()}) {
      from(passing.raw_site, SECCOMP_RET_ALLOW);
      from(passing.pinned_site, SECCOMP_RET_ALLOW);
      from(passing.plain_site, SECCOMP_RET_ALLOW);
    }
    end(SECCOMP_RET_TRAP | kTrapMark);
    for (uint32_t i = 0; i < jump_count; ++i)
      code[jumps[i].at].k = blocks[jumps[i].block - kFirstBlock].start - jumps[i].at - 1;
  }
};

long install(const sock_fprog& program) {
  const long flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  return raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, as_long(&program));
}

}  // namespace

bool has_filter() noexcept {
  return raw(SYS_prctl, PR_GET_SECCOMP) > 0;
}

long install_filter(uint64_t first, uint64_t end, bool covered, const char** why) noexcept {
  auto* const builder = static_cast<Builder*>(map_table(sizeof(Builder)));
  *why = "no memory for the filter of system calls";
  if (builder == nullptr) return -ENOMEM;
  builder->covered = covered;
  builder->build(first, end);
  long result = -E2BIG;
  *why = "the kernel accepts no filter of system calls (seccomp)";
  if (!builder->full) {
    const sock_fprog program{static_cast<uint16_t>(builder->count), builder->code};
    result = install(program);
    if (result == -EACCES) {  // not root: set-user-ID loses its effect for the process and its children
      raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      result = install(program);
    }
    if (result > 0) {
      *why = "a thread of the program has its own filter of system calls (seccomp)";
      result = -EBUSY;
    }
    // The ancestors' filters trap the arena's addresses. Without its own filter, this process fails to trap only calls
    // with structures.
    if (result == -ENOMEM && covered) result = kOnlyOfAncestors;
  }
  unmap_table(builder, sizeof(Builder));
  return result;
}

}  // namespace ringside::memory

#endif
