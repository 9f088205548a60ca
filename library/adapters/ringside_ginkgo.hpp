// SPDX-License-Identifier: BSD-3-Clause
// Ginkgo's iterative solvers as kept runs: a logger that publishes the iterates of the solver to which it is added.
// Header-only, for Ginkgo 1.11.
//
//     ringside::Writer run = ringside::ginkgo::attach(x.get(), {.solver = "ginkgo cg"});
//     solver->add_logger(ringside::ginkgo::Logger<double>::create(run));
//     solver->apply(b, x);
//     run.detach();
//
// After the call of attach, x contains the kept iterate, if there is one.
//
// The method's own state is not kept. So a resumed Krylov method begins anew from the kept iterate. A stationary method
// (Ir) continues with the same bits. An x on a device is copied to the host; an x in distributed memory is refused.
#ifndef RINGSIDE_GINKGO_HPP
#define RINGSIDE_GINKGO_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ginkgo/ginkgo.hpp>

#include "ringside.hpp"

namespace ringside::ginkgo {

/// A run whose iterates have the shape of x: one field, and the scalar `residual`, the norm of the residual. If the run
/// continues from a kept iterate, x is set to that iterate. Throws Error.
template <class T>
Writer attach(gko::matrix::Dense<T>* x, const WriterOptions& options = {}) {
  const gko::dim<2> size = x->get_size();
  std::vector<std::uint64_t> shape{size[0]};
  if (size[1] != 1) shape.push_back(size[1]);
  Writer run(options, {field<T>("x", shape)}, {{.name = "residual"}});
  if (const std::span<const T> kept = run.kept<T>(0); !kept.empty()) {
    const auto host = gko::make_temporary_clone(x->get_executor()->get_master(), x);
    for (gko::size_type row = 0; row < size[0]; ++row) {
      std::ranges::copy(kept.subspan(row * size[1], size[1]), host->get_values() + row * host->get_stride());
    }
  }
  return run;
}

/// Publishes each iterate of the solver to which it is added, but not the first guess. T is the solver's value type. x
/// is the x that Ginkgo provides; GMRES computes it only at a restart and at the end. `residual` is NaN if Ginkgo
/// provides no residual. The Writer must outlive the logger. apply() throws Error, with RINGSIDE_INTERRUPTED if the run
/// is to stop.
template <class T>
class Logger : public gko::log::Logger {
 public:
  static std::shared_ptr<Logger> create(Writer& run) { return std::shared_ptr<Logger>(new Logger(run)); }

 protected:
  void on_linop_apply_started(const gko::LinOp*, const gko::LinOp*, const gko::LinOp*) const override { begin(true); }
  void on_linop_advanced_apply_started(const gko::LinOp*, const gko::LinOp*, const gko::LinOp*, const gko::LinOp*,
                                       const gko::LinOp*) const override {
    begin(false);
  }

  void on_iteration_complete(const gko::LinOp*, const gko::LinOp*, const gko::LinOp* x, const gko::size_type& iteration,
                             const gko::LinOp* residual, const gko::LinOp* residual_norm, const gko::LinOp*,
                             const gko::array<gko::stopping_status>*, bool stopped) const override {
    if (std::exchange(at_guess_, false)) return;
    std::uint64_t number = before_ + iteration;
    if (stopped && number == last_) ++number;  // BiCGSTAB may end half an iteration after the last published x
    if (number == last_) return;               // Ginkgo reports the same x again, half an iteration later
    residual_ = norm(residual, residual_norm);
    if (stopped && has_last_x_) {
      final_ = number;
    } else {
      publish(x, number);
    }
  }

  void on_linop_apply_completed(const gko::LinOp*, const gko::LinOp*, const gko::LinOp* x) const override {
    if (final_ != 0) publish(x, std::exchange(final_, 0));
  }

 private:
  using Vectors = gko::matrix::Dense<T>;
  using Norms = gko::matrix::Dense<gko::remove_complex<T>>;

  explicit Logger(Writer& run)
      : gko::log::Logger(iteration_complete_mask | linop_apply_started_mask | linop_apply_completed_mask |
                         linop_advanced_apply_started_mask),
        run_(run),
        last_(run.next_iteration() - 1) {}

  // A further apply() continues to count from the last number. With x = alpha A^-1 b + beta x, the last iterate is not
  // the final x.
  void begin(bool has_last_x) const {
    before_ = last_;
    at_guess_ = true;
    has_last_x_ = has_last_x;
  }

  void publish(const gko::LinOp* x, std::uint64_t number) const {
    const auto* iterate = dynamic_cast<const Vectors*>(x);
    if (iterate == nullptr) {
      throw Error(RINGSIDE_USAGE, "x: found another class; expected gko::matrix::Dense<T> with the logger's T",
                  RINGSIDE_REASON_ARGUMENT);
    }
    if (!run_.claim()) throw Error(RINGSIDE_INTERRUPTED, "the run was asked to stop");
    const std::span<T> buffer = run_.buffer<T>(0);
    const auto host = gko::make_temporary_clone(iterate->get_executor()->get_master(), iterate);
    const gko::size_type rows = host->get_size()[0], columns = host->get_size()[1];
    if (buffer.size() != rows * columns)
      throw Error(RINGSIDE_USAGE, "x: found another size than that of the run", RINGSIDE_REASON_ARGUMENT);
    for (gko::size_type row = 0; row < rows; ++row) {
      std::copy_n(host->get_const_values() + row * host->get_stride(), columns, &buffer[row * columns]);
    }
    run_.publish(number, {value(residual_)});
    last_ = number;
  }

  /// The norm of the residuals of all columns.
  static double norm(const gko::LinOp* residual, const gko::LinOp* residual_norm) {
    std::unique_ptr<Norms> made;
    const auto* norms = dynamic_cast<const Norms*>(residual_norm);
    if (const auto* vectors = dynamic_cast<const Vectors*>(residual); norms == nullptr && vectors != nullptr) {
      made = Norms::create(vectors->get_executor(), gko::dim<2>{1, vectors->get_size()[1]});
      vectors->compute_norm2(made.get());
      norms = made.get();
    }
    if (norms == nullptr) return std::numeric_limits<double>::quiet_NaN();
    const auto host = gko::make_temporary_clone(norms->get_executor()->get_master(), norms);
    double sum = 0;
    for (gko::size_type j = 0; j < host->get_size()[1]; ++j) sum += double{host->at(0, j)} * double{host->at(0, j)};
    return std::sqrt(sum);
  }

  Writer& run_;
  mutable std::uint64_t last_;        // the number of the last published iterate
  mutable std::uint64_t before_ = 0;  // the value of last_ when apply() began
  mutable std::uint64_t final_ = 0;   // the number of the x that apply() returns
  mutable bool at_guess_ = false;
  mutable bool has_last_x_ = false;
  mutable double residual_ = 0;
};

}  // namespace ringside::ginkgo

#endif
