// SPDX-License-Identifier: BSD-3-Clause
// Rare results of userfaultfd: page migration, shortage of memory, pages that the kernel holds. A model of two ranges
// of pages replaces the kernel; a script changes single results of the model.
#include "memory/arena/userfault.hpp"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/memory/apart.hpp"
#include "tests/unit/memory/pages.hpp"

namespace ringside::testing {
namespace {

using memory::UserFault;

constexpr uint64_t kHere = 0x10'0000'0000, kThere = 0x20'0000'0000;
constexpr unsigned kMoveNumber = 5;  // _UFFDIO_MOVE, since Linux 6.8

char* at(uint64_t address, uint64_t page = 0) {
  return reinterpret_cast<char*>(static_cast<uintptr_t>(address + page * kPageBytes));
}

struct Page {
  int content = 0;
  bool swapped = false;  // mincore(2) reports it as absent
};

/// One result of a call: the number of moved pages, how many of these the kernel counts, and the value that the call
/// returns.
struct Answer {
  long result;
  uint64_t moves = 0, counts = 0;
};

struct Model {
  std::map<uint64_t, Page> pages;  // the pages by their addresses
  std::deque<Answer> moves, copies, protects;
  long result_of_give_back = 0;
  int calls = 0;
};
Model* model = nullptr;

struct MoveOrder {  // struct uffdio_move
  uint64_t to, from, bytes, mode;
  int64_t moved;
};

bool take(std::deque<Answer>& script, Answer& answer) {
  if (script.empty()) return false;
  answer = script.front();
  if (script.size() > 1 || answer.result == 0) script.pop_front();  // the last error repeats
  return true;
}

long transfer(uint64_t to, uint64_t from, uint64_t bytes, bool keeps, std::deque<Answer>& script, int64_t& counted) {
  Answer answer{0, bytes / kPageBytes, bytes / kPageBytes};
  const bool scripted = take(script, answer);
  for (uint64_t page = 0; page < answer.moves; ++page) {
    const uint64_t source = from + page * kPageBytes, destination = to + page * kPageBytes;
    const long error = model->pages.count(destination) != 0 ? -EEXIST : model->pages.count(source) == 0 ? -ENOENT : 0;
    if (error != 0) {
      counted = static_cast<int64_t>(page * kPageBytes);
      return page > 0 ? -EAGAIN : error;
    }
    model->pages[destination] = model->pages[source];
    if (!keeps) model->pages.erase(source);
  }
  counted = static_cast<int64_t>((scripted ? answer.counts : answer.moves) * kPageBytes);
  return answer.result;
}

long control(int /*descriptor*/, unsigned long request, void* argument) noexcept {
  ++model->calls;
  if (_IOC_NR(request) == kMoveNumber) {
    auto& order = *static_cast<MoveOrder*>(argument);
    return transfer(order.to, order.from, order.bytes, false, model->moves, order.moved);
  }
  if (request == UFFDIO_COPY) {
    auto& order = *static_cast<uffdio_copy*>(argument);
    int64_t counted = 0;
    const long result = transfer(order.dst, order.src, order.len, true, model->copies, counted);
    order.copy = counted;
    return result;
  }
  Answer answer{0};
  take(model->protects, answer);
  return answer.result;
}

long resident(const void* from, size_t bytes, unsigned char* of_each_page) noexcept {
  for (size_t page = 0; page < bytes / kPageBytes; ++page) {
    const auto found = model->pages.find(reinterpret_cast<uintptr_t>(from) + page * kPageBytes);
    const bool is_there = found != model->pages.end() && !found->second.swapped;
    of_each_page[page] = is_there ? 0xff : 0xfe;  // only the lowest bit has a meaning
  }
  return 0;
}

long give_back(void* from, size_t bytes) noexcept {
  for (size_t page = 0; page < bytes / kPageBytes; ++page)
    model->pages.erase(reinterpret_cast<uintptr_t>(from) + page * kPageBytes);
  return model->result_of_give_back;
}

constexpr memory::KernelCalls kModelCalls = {control, resident, give_back};

class UserFaultAnswers : public ::testing::Test {
 protected:
  UserFaultAnswers() {
    model = &kernel;
    fault.kernel = &kModelCalls;
    for (uint64_t page = 0; page < kPages; ++page)
      kernel.pages[kHere + page * kPageBytes] = {static_cast<int>(page) + 1};
  }
  ~UserFaultAnswers() override { model = nullptr; }

  size_t move() const { return fault.move(at(kThere), at(kHere), kPages * kPageBytes); }
  /// Expects that each page is at the destination and nowhere else, with its content and in order.
  void expect_all_moved() const {
    ASSERT_EQ(kernel.pages.size(), kPages);
    for (uint64_t page = 0; page < kPages; ++page) {
      const auto found = kernel.pages.find(kThere + page * kPageBytes);
      ASSERT_NE(found, kernel.pages.end()) << "page " << page;
      EXPECT_EQ(found->second.content, static_cast<int>(page) + 1);
    }
  }
  /// The message of a process that ends because of `act`.
  static std::string line_of(const std::function<void()>& act) {
    const Ending ending = in_process([&] { return act(), 0; });
    return ending.signal == SIGABRT ? ending.lines : "it goes on";
  }

  static constexpr uint64_t kPages = 8;
  Model kernel;
  UserFault fault;
};

struct MoveCase {
  const char* name;
  std::deque<Answer> moves;
  std::vector<uint64_t> swapped = {};  // swapped-out pages at the source
};

class UserFaultMoves : public UserFaultAnswers, public ::testing::WithParamInterface<MoveCase> {};

TEST_P(UserFaultMoves, AreCompleteAndMoveNothingTwice) {
  for (const uint64_t page : GetParam().swapped) kernel.pages[kHere + page * kPageBytes].swapped = true;
  kernel.moves = GetParam().moves;
  EXPECT_EQ(move(), kPages * kPageBytes);
  expect_all_moved();
}

INSTANTIATE_TEST_SUITE_P(
    All, UserFaultMoves,
    ::testing::Values(MoveCase{"ThoughPagesWereMovedWithoutBeingCounted", {{-EEXIST, 3}, {0, 5, 5}}},
                      MoveCase{"ThoughMorePagesWereMovedThanTheCountSays", {{-EAGAIN, 5, 2}, {-EEXIST}, {0, 3, 3}}},
                      MoveCase{"ThoughAllPagesWereMovedWithoutACount", {{-EEXIST, 8}}},
                      MoveCase{"ThoughTheEmptiedPageTableIsGone", {{-ENOENT, 8}}},
                      MoveCase{"WithAPageThatIsSwappedOutAtItsSource", {{-EEXIST, 2}, {0, 6, 6}}, {2}},
                      MoveCase{"WithMovedPagesThatAreSwappedOutByNow", {{-EEXIST, 2}, {-EEXIST}, {0, 6, 6}}, {0, 1}}),
    [](const auto& given) { return std::string(given.param.name); });

TEST_F(UserFaultAnswers, ADestinationWithOtherContentEndsTheProcess) {
  kernel.pages[kThere] = {99};
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cannot move a page (UFFDIO_MOVE) (File exists)",
                      line_of([&] { move(); }));
}

TEST_F(UserFaultAnswers, ALostPageEndsTheProcess) {
  kernel.pages.erase(kHere);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cannot move a page (UFFDIO_MOVE) (No such file",
                      line_of([&] { move(); }));
}

TEST_F(UserFaultAnswers, AMemoryErrorIsNamed) {
  kernel.moves = {{-EFAULT}};
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "it has a memory error", line_of([&] { move(); }));
  kernel.copies = {{-EFAULT}};
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cannot read far memory",
                      line_of([&] { fault.copy_in(at(kThere), at(kHere), kPageBytes, false); }));
}

TEST_F(UserFaultAnswers, AHeldPageStaysWithWhatLiesBehindIt) {
  for (const long held : {-EBUSY, -EAGAIN, -ENOMEM}) {
    kernel.moves = {{-EAGAIN, 1, 1}, {held}};
    EXPECT_EQ(fault.move(at(kThere), at(kHere), kPages * kPageBytes), kPageBytes) << held;
    kernel.moves = {};
    EXPECT_EQ(fault.move(at(kHere), at(kThere), kPageBytes), kPageBytes);
  }
}

TEST_F(UserFaultAnswers, WhatIsHeldForLongIsCopiedAndLeavesItsSource) {
  kernel.moves = {{-EAGAIN, 3, 3}, {-EBUSY}};
  fault.move_all(at(kThere), at(kHere), kPages * kPageBytes);
  expect_all_moved();
}

TEST_F(UserFaultAnswers, CopiesGoOnBehindWhatWasCounted) {
  kernel.copies = {{-EAGAIN, 3, 3}, {-ENOMEM}, {-EAGAIN}, {0, 5, 5}};
  fault.copy_in(at(kThere), at(kHere), kPages * kPageBytes, true);
  EXPECT_EQ(kernel.calls, 4);
  EXPECT_EQ(kernel.pages.size(), 2 * kPages);
}

TEST_F(UserFaultAnswers, ProtectionWaitsForMemory) {
  kernel.protects = {{-EAGAIN}, {-ENOMEM}, {0}};
  fault.protect(at(kHere), kPageBytes, true);
  EXPECT_EQ(kernel.calls, 3);
  kernel.protects = {{-ENOENT}};
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cannot write-protect",
                      line_of([&] { fault.protect(at(kHere), kPageBytes, true); }));
}

TEST_F(UserFaultAnswers, PagesThatStayEndTheProcess) {
  kernel.result_of_give_back = -EINVAL;
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cannot give pages back",
                      line_of([&] { memory::drop_range(at(kHere), kPageBytes, kModelCalls); }));
}

}  // namespace
}  // namespace ringside::testing
