// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/neighbours.hpp"

namespace ringside {
namespace {

class Alone final : public Neighbours {
 public:
  void together(const std::function<void()>& work) override { work(); }
  void word(std::function<Error(const Error&)>) override {}
  ColumnEntries entries_in_own_columns(const CsrMatrix&) override { return {}; }
  CsrMatrix gathered(const CsrMatrix& part) override { return part; }
  void expect(const CsrMatrix&, std::span<const std::uint64_t>, std::span<const std::uint32_t>) override {}
  void send(const double*, double*) noexcept override {}
  void receive() noexcept override {}

 protected:
  void await_turn(void*, std::size_t) noexcept override {}
  void pass_on(void*, std::size_t) noexcept override {}
};

}  // namespace

Neighbours& alone() noexcept {
  static Alone one;
  return one;
}

}  // namespace ringside
