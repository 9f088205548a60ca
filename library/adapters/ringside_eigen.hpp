// SPDX-License-Identifier: BSD-3-Clause
// Eigen's iterative solvers as kept runs: ConjugateGradient, BiCGSTAB and LeastSquaresConjugateGradient with Eigen's
// interface, in another namespace. Header-only, for Eigen 3.4.
//
//     ringside::eigen::ConjugateGradient<Eigen::SparseMatrix<double>> cg;  // was Eigen::ConjugateGradient
//     x = cg.compute(A).solve(b);                                          // as before
//
// `ringside run -- PROGRAM` starts the program.
//
// Eigen's own solvers have no callback. Calling them again with the last x as the guess would lose the search
// directions. Therefore this file implements the recurrences itself, from Y. Saad, Iterative Methods for Sparse Linear
// Systems, 2003: algorithm 9.1 (CG), the same algorithm on the normal equations, and 7.7 (BiCGSTAB), in Eigen's order
// of operations. A step contains all that its recurrence needs to continue, and is computed directly in the claimed
// buffer.
#ifndef RINGSIDE_EIGEN_HPP
#define RINGSIDE_EIGEN_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <Eigen/IterativeLinearSolvers>

#include "ringside.hpp"

static_assert(EIGEN_VERSION_AT_LEAST(3, 4, 0), "ringside_eigen.hpp: this Eigen is older than 3.4");

namespace ringside::eigen {

template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

/// The arrays of a step: first x, then the method's states. For the previous step, Entry is const.
template <class Entry>
using Step = std::vector<std::span<Entry>>;

template <class Scalar>
Eigen::Map<const Vector<Scalar>> seen(std::span<const Scalar> array) {
  return {array.data(), static_cast<Eigen::Index>(array.size())};
}
template <class Scalar>
Eigen::Map<Vector<Scalar>> written(std::span<Scalar> array) {
  return {array.data(), static_cast<Eigen::Index>(array.size())};
}

/// The conjugate gradient method for A x = b, or, with LeastSquares, for A'A x = A'b. States: r = b - A x, the
/// direction p, and rho.
template <class Scalar, bool LeastSquares>
class ConjugateGradientSteps {
 public:
  static constexpr const char* kSolver = LeastSquares ? "eigen lscg" : "eigen cg";

  static std::vector<Variable> states(std::uint64_t rows, std::uint64_t columns) {
    return {state<Scalar>("r", {rows}), state<Scalar>("p", {columns}), state<Scalar>("rho", {1})};
  }

  /// |b|^2, or |A'b|^2 with LeastSquares.
  template <class Matrix>
  static auto norm2_of_right(const Matrix& A, const Vector<Scalar>& b) {
    if constexpr (LeastSquares) {
      return (A.adjoint() * b).squaredNorm();
    } else {
      return b.squaredNorm();
    }
  }

  /// |g|^2 of a step, where g = r, or A'r with LeastSquares.
  template <class Matrix>
  auto norm2(const Matrix& A, const Step<const Scalar>& step) {
    if constexpr (LeastSquares) g_ = A.adjoint() * seen(step[1]);
    return gradient(step).squaredNorm();
  }

  /// Computes r of step 0 from the step's x; the step's other arrays are 0.
  template <class Matrix>
  static void begin(const Matrix& A, const Vector<Scalar>& b, const Step<Scalar>& start) {
    written(start[1]) = b - A * written(start[0]);
  }

  /// z = M^-1 g; rho = g.z; p = z + (rho / rho_before) p; q = A p; alpha = rho / p.q (or q.q); x += alpha p; r -= alpha
  /// q. Call it after norm2(before).
  template <class Matrix, class Preconditioner>
  void advance(const Matrix& A, const Preconditioner& M, const Vector<Scalar>&, bool first,
               const Step<const Scalar>& before, const Step<Scalar>& after) {
    auto p = written(after[2]);
    z_ = M.solve(gradient(before));
    const auto rho = Eigen::numext::real(gradient(before).dot(z_));
    if (first) {
      p = z_;
    } else {
      p = z_ + (rho / Eigen::numext::real(before[3][0])) * seen(before[2]);
    }
    q_.noalias() = A * p;
    Scalar alpha;
    if constexpr (LeastSquares) {
      alpha = rho / q_.squaredNorm();
    } else {
      alpha = rho / p.dot(q_);
    }
    written(after[0]) = seen(before[0]) + alpha * p;
    written(after[1]) = seen(before[1]) - alpha * q_;
    after[3][0] = rho;
  }

 private:
  decltype(auto) gradient(const Step<const Scalar>& step) const {
    if constexpr (LeastSquares) {
      return (g_);
    } else {
      return seen(step[1]);
    }
  }

  Vector<Scalar> g_, z_, q_;
};

/// Stabilised biconjugate gradients. States: r = b - A x, the first r, the direction p, v = A M^-1 p, and the numbers
/// rho, alpha and omega.
template <class Scalar>
class BiCGSTABSteps {
 public:
  static constexpr const char* kSolver = "eigen bicgstab";

  static std::vector<Variable> states(std::uint64_t rows, std::uint64_t) {
    return {state<Scalar>("r", {rows}), state<Scalar>("r0", {rows}), state<Scalar>("p", {rows}),
            state<Scalar>("v", {rows}), state<Scalar>("numbers", {3})};
  }

  template <class Matrix>
  static auto norm2_of_right(const Matrix&, const Vector<Scalar>& b) {
    return b.squaredNorm();
  }

  template <class Matrix>
  static auto norm2(const Matrix&, const Step<const Scalar>& step) {
    return seen(step[1]).squaredNorm();
  }

  template <class Matrix>
  static void begin(const Matrix& A, const Vector<Scalar>& b, const Step<Scalar>& start) {
    written(start[1]) = b - A * written(start[0]);
    std::ranges::copy(start[1], start[2].begin());
    std::ranges::fill(start[5], Scalar(1));
  }

  /// rho = r0.r; p = r + beta (p - omega v); v = A M^-1 p; alpha = rho / r0.v; s = r - alpha v; t = A M^-1 s;
  /// omega = t.s / t.t; x += alpha M^-1 p + omega M^-1 s; r = s - omega t; beta = (rho / rho_before) (alpha / omega).
  template <class Matrix, class Preconditioner>
  void advance(const Matrix& A, const Preconditioner& M, const Vector<Scalar>& b, bool,
               const Step<const Scalar>& before, const Step<Scalar>& after) {
    const auto epsilon = Eigen::NumTraits<Scalar>::epsilon();
    auto r0 = written(after[2]), p = written(after[3]), v = written(after[4]);
    auto r = seen(before[1]);
    r0 = seen(before[2]);
    Scalar rho = r0.dot(r);
    if (std::abs(rho) < epsilon * epsilon * r0.squaredNorm()) {  // r is orthogonal to r0: restart with the true r as r0
      r0 = b - A * seen(before[0]);
      ::new (&r) Eigen::Map<const Vector<Scalar>>(r0.data(), r0.size());
      rho = r0.squaredNorm();
    }
    const Scalar beta = (rho / before[5][0]) * (before[5][1] / before[5][2]);
    p = r + beta * (seen(before[3]) - before[5][2] * seen(before[4]));
    y_ = M.solve(p);
    v.noalias() = A * y_;
    const Scalar alpha = rho / r0.dot(v);
    s_ = r - alpha * v;
    z_ = M.solve(s_);
    t_.noalias() = A * z_;
    const auto t2 = t_.squaredNorm();
    const Scalar omega = t2 > 0 ? Scalar(t_.dot(s_) / t2) : Scalar(0);
    written(after[0]) = seen(before[0]) + (alpha * y_ + omega * z_);
    written(after[1]) = s_ - omega * t_;
    std::ranges::copy(std::array{rho, alpha, omega}, after[5].begin());
  }

 private:
  Vector<Scalar> y_, z_, s_, t_;
};

/// A hash of the problem that is solved.
class Digest {
 public:
  void add(const void* data, std::size_t bytes) noexcept {
    const auto* at = static_cast<const unsigned char*>(data);
    while (bytes > 0) {
      std::uint64_t word = 0;
      const std::size_t taken = std::min(bytes, sizeof(word));
      std::memcpy(&word, at, taken);
      value_ = (value_ ^ word) * 0x9E3779B97F4A7C15u;
      value_ ^= value_ >> 32;
      at += taken;
      bytes -= taken;
    }
  }
  /// Adds the numbers of rows and columns, and the index and value of each entry in the order of storage.
  template <class Matrix>
  void add_entries(const Matrix& A) noexcept {
    const std::int64_t shape[] = {A.rows(), A.cols()};
    add(shape, sizeof(shape));
    for (Eigen::Index outer = 0; outer < A.outerSize(); ++outer) {
      for (Eigen::InnerIterator<Matrix> entry(A, outer); entry; ++entry) {
        const std::int64_t place[] = {entry.row(), entry.col()};
        const typename Matrix::Scalar number = entry.value();
        add(place, sizeof(place));
        add(&number, sizeof(number));
      }
    }
  }
  std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(&value_, 1)); }

 private:
  std::uint64_t value_ = 1;
};

template <template <class> class Steps, class Matrix, int UpLo, class Preconditioner>
class KeptSolver;

}  // namespace ringside::eigen

// The traits that Eigen requires of a class derived from IterativeSolverBase.
template <template <class> class Steps, class MatrixType_, int UpLo, class Preconditioner_>
struct Eigen::internal::traits<ringside::eigen::KeptSolver<Steps, MatrixType_, UpLo, Preconditioner_>> {
  using MatrixType = MatrixType_;
  using Preconditioner = Preconditioner_;
};

namespace ringside::eigen {

/// An iterative solver with Eigen's interface. A solve() is one run: it attaches, publishes each iterate with the
/// scalar `residual` (the norm that the tolerance bounds), and detaches. It solves for only one right-hand side, and
/// may throw Error. iterations() is the number of the last iterate. This number may differ from Eigen's: Eigen's
/// ConjugateGradient does not count the iteration that converges, and Eigen's BiCGSTAB starts counting from 0 again
/// when it takes another r0.
template <template <class> class Steps_, class Matrix, int UpLo, class Preconditioner>
class KeptSolver : public Eigen::IterativeSolverBase<KeptSolver<Steps_, Matrix, UpLo, Preconditioner>> {
  using Base = Eigen::IterativeSolverBase<KeptSolver>;

 public:
  using Scalar = typename Matrix::Scalar;
  using RealScalar = typename Matrix::RealScalar;

  KeptSolver() = default;
  template <class Derived>
  explicit KeptSolver(const Eigen::EigenBase<Derived>& A) : Base(A.derived()) {}

  /// Sets the options of the run, such as its names and time-outs. A run is resumed only with the same entries of A, b
  /// and first guess, the same type of the preconditioner, and the same `problem` and `parameters`. Tolerance and
  /// number of iterations may change. Write the preconditioner's settings into `parameters`; if A is matrix-free, write
  /// a name for A into `problem`. `problem_bytes` replaces the hash of A's entries.
  KeptSolver& setWriter(WriterOptions options) {
    options_ = std::move(options);
    return *this;
  }

  /// Eigen calls this function for solve() and solveWithGuess(). x: on entry the guess, on return the solution.
  template <class Right, class Solution>
  void _solve_with_guess_impl(const Right& right, Solution& x) const {
    if (right.cols() != 1) {
      throw Error(RINGSIDE_USAGE, ("b: found " + std::to_string(right.cols()) + " columns; expected 1").c_str(),
                  RINGSIDE_REASON_ARGUMENT);
    }
    using std::sqrt;
    using Steps = Steps_<Scalar>;
    decltype(auto) A = operand();
    const Vector<Scalar> b = right;
    const Vector<Scalar> guess = x;
    std::vector<Variable> variables = Steps::states(size(b), size(guess));
    variables.insert(variables.begin(), field<Scalar>("x", {size(guess)}));
    Writer run = attach(Steps::kSolver, variables, b, guess);

    std::vector<Vector<Scalar>> start;  // step 0
    Step<const Scalar> before(variables.size());
    if (run.kept_iteration()) {
      for (std::uint32_t v = 0; v < before.size(); ++v) before[v] = run.template kept<Scalar>(v);
    } else {
      Step<Scalar> arrays;
      for (const Variable& variable : variables) {
        Vector<Scalar>& array = start.emplace_back(Vector<Scalar>::Zero(static_cast<Eigen::Index>(variable.shape[0])));
        arrays.emplace_back(array.data(), variable.shape[0]);
      }
      written(arrays[0]) = guess;
      Steps::begin(A, b, arrays);
      std::ranges::copy(arrays, before.begin());
    }

    Steps steps;
    const RealScalar of_right = steps.norm2_of_right(A, b);
    const RealScalar limit = std::max(this->tolerance() * this->tolerance() * of_right, kSmallest);
    const auto last = static_cast<std::uint64_t>(this->maxIterations());
    RealScalar norm2 = steps.norm2(A, before);
    std::uint64_t k = run.next_iteration() - 1;
    Step<Scalar> after(variables.size());
    while (of_right > 0 && norm2 > limit && k < last && run.claim()) {
      for (std::uint32_t v = 0; v < after.size(); ++v) after[v] = run.template buffer<Scalar>(v);
      steps.advance(A, this->preconditioner(), b, k == 0, before, after);
      std::ranges::copy(after, before.begin());  // the step's bytes do not change until the claim after the next one
      norm2 = steps.norm2(A, before);
      run.publish(++k, {value(static_cast<double>(sqrt(norm2)))});
    }
    if (of_right > 0) {
      x = seen(before[0]);
    } else {
      x.setZero();  // as in Eigen, whatever the guess is
      norm2 = 0;
    }
    const bool finite = norm2 <= std::numeric_limits<RealScalar>::max();
    const bool converged = norm2 <= limit;
    this->m_iterations = static_cast<Eigen::Index>(k);
    this->m_error = of_right > 0 ? sqrt(norm2 / of_right) : RealScalar(0);
    this->m_info = converged ? Eigen::Success : finite ? Eigen::NoConvergence : Eigen::NumericalIssue;
    run.detach(finite ? RINGSIDE_OUTCOME_FINISHED : RINGSIDE_OUTCOME_DIVERGED);  // also at the iteration limit
  }

 private:
  static constexpr RealScalar kSmallest = std::numeric_limits<RealScalar>::min();
  static constexpr bool kMatrixFree = Base::MatrixWrapper::MatrixFree;

  static std::uint64_t size(const Vector<Scalar>& array) { return static_cast<std::uint64_t>(array.size()); }

  /// A in the form in which it is multiplied. Eigen multiplies row-major matrices faster, and the transpose of a
  /// symmetric column-major matrix is a row-major view of the same matrix.
  decltype(auto) operand() const {
    constexpr bool kWhole = UpLo == 0 || UpLo == (Eigen::Lower | Eigen::Upper);
    if constexpr (!kWhole) {
      return this->matrix().template selfadjointView<UpLo>();
    } else if constexpr (UpLo == 0 || kMatrixFree || Matrix::IsRowMajor || Eigen::NumTraits<Scalar>::IsComplex) {
      return (this->matrix());
    } else {
      return this->matrix().transpose();
    }
  }

  Writer attach(const char* solver, const std::vector<Variable>& variables, const Vector<Scalar>& b,
                const Vector<Scalar>& guess) const {
    WriterOptions options = options_;
    Digest digest;
    if (!options.problem_bytes.empty()) {
      digest.add(options.problem_bytes.data(), options.problem_bytes.size());
    } else if constexpr (!kMatrixFree) {
      digest.add_entries(this->matrix());
    }
    if constexpr (!kMatrixFree) {
      if (options.work == 0) options.work = static_cast<std::uint64_t>(this->matrix().nonZeros());
    }
    digest.add_entries(b);
    digest.add_entries(guess);
    const std::string type = typeid(KeptSolver).name();  // names the method, scalar, UpLo and preconditioner
    digest.add(type.data(), type.size());
    if (options.solver.empty()) options.solver = solver;
    options.problem_bytes = digest.bytes();
    return Writer(options, variables, {{.name = "residual"}});
  }

  WriterOptions options_;
};

template <class Scalar>
using CgSteps = ConjugateGradientSteps<Scalar, false>;
template <class Scalar>
using LeastSquaresSteps = ConjugateGradientSteps<Scalar, true>;

template <class Matrix, int UpLo = Eigen::Lower,
          class Preconditioner = Eigen::DiagonalPreconditioner<typename Matrix::Scalar>>
using ConjugateGradient = KeptSolver<CgSteps, Matrix, UpLo, Preconditioner>;

template <class Matrix, class Preconditioner = Eigen::DiagonalPreconditioner<typename Matrix::Scalar>>
using BiCGSTAB = KeptSolver<BiCGSTABSteps, Matrix, 0, Preconditioner>;

template <class Matrix, class Preconditioner = Eigen::LeastSquareDiagonalPreconditioner<typename Matrix::Scalar>>
using LeastSquaresConjugateGradient = KeptSolver<LeastSquaresSteps, Matrix, 0, Preconditioner>;

}  // namespace ringside::eigen

#endif
