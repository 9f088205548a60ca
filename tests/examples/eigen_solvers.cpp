// SPDX-License-Identifier: BSD-3-Clause
// Solves one problem with one of Eigen's solvers and with the corresponding solver whose iterates are kept, and
// compares the bits of every x. eigen_test.py runs this program: eigen_solvers CASE ITERATIONS prints "iterations I of
// Eigen's J", and ends with exit code 1 if an x differs from Eigen's x.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <Eigen/SparseCore>
#include <ringside_eigen.hpp>

namespace {

constexpr int kSide = 40;
constexpr int kPoints = kSide * kSide;
constexpr int kBoth = Eigen::Lower | Eigen::Upper;

template <class Scalar>
using Sparse = Eigen::SparseMatrix<Scalar>;

/// Diffusion on a square, with a diagonal that varies. `wind` makes the matrix unsymmetric; with a complex Scalar, the
/// matrix is Hermitian.
template <class Matrix>
Matrix square(double wind) {
  using Scalar = typename Matrix::Scalar;
  Scalar coupling(-1);
  if constexpr (Eigen::NumTraits<Scalar>::IsComplex) coupling = Scalar(-1, 0.5f);
  std::vector<Eigen::Triplet<Scalar>> entries;
  const auto couple = [&](int i, int j) {
    entries.emplace_back(i, j, coupling + Scalar(static_cast<float>(wind)));
    entries.emplace_back(j, i, Eigen::numext::conj(coupling) - Scalar(static_cast<float>(wind)));
  };
  for (int i = 0; i < kPoints; ++i) {
    entries.emplace_back(i, i, Scalar(4.5f + 0.01f * static_cast<float>(i % 7)));
    if (i % kSide > 0) couple(i, i - 1);
    if (i >= kSide) couple(i, i - kSide);
  }
  Matrix made(kPoints, kPoints);
  made.setFromTriplets(entries.begin(), entries.end());
  return made;
}

/// More equations than unknowns: those of the square, and one more for each unknown.
Sparse<double> tall() {
  std::vector<Eigen::Triplet<double>> entries;
  const auto upper = square<Sparse<double>>(0.3);
  for (int column = 0; column < kPoints; ++column) {
    for (Sparse<double>::InnerIterator entry(upper, column); entry; ++entry) {
      entries.emplace_back(static_cast<int>(entry.row()), column, entry.value());
    }
    entries.emplace_back(kPoints + column, column, 0.25);
  }
  Sparse<double> made(2 * kPoints, kPoints);
  made.setFromTriplets(entries.begin(), entries.end());
  return made;
}

template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, 1> wave(Eigen::Index entries, double from) {
  Eigen::Matrix<Scalar, Eigen::Dynamic, 1> made(entries);
  for (Eigen::Index i = 0; i < entries; ++i) {
    made(i) = Scalar(static_cast<float>(std::sin(from + 0.37 * static_cast<double>(i))));
  }
  return made;
}

/// The matrix of the square as an operator without stored entries.
class Operator;

}  // namespace

template <>
struct Eigen::internal::traits<Operator> : Eigen::internal::traits<Eigen::SparseMatrix<double>> {};

namespace {

class Operator : public Eigen::EigenBase<Operator> {
 public:
  using Scalar = double;
  using RealScalar = double;
  using StorageIndex = int;
  enum { ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic, IsRowMajor = false };
  static Eigen::Index rows() { return kPoints; }
  static Eigen::Index cols() { return kPoints; }
  template <class Right>
  Eigen::Product<Operator, Right, Eigen::AliasFreeProduct> operator*(const Eigen::MatrixBase<Right>& x) const {
    return {*this, x.derived()};
  }
  Sparse<double> entries = square<Sparse<double>>(0);
};

}  // namespace

template <class Right>
struct Eigen::internal::generic_product_impl<Operator, Right, Eigen::SparseShape, Eigen::DenseShape, Eigen::GemvProduct>
    : Eigen::internal::generic_product_impl_base<Operator, Right, generic_product_impl<Operator, Right>> {
  template <class Product>
  static void scaleAndAddTo(Product& product, const Operator& A, const Right& x, double alpha) {
    product.noalias() += alpha * (A.entries * x);
  }
};

namespace {

/// Runs both solvers with equal settings, from an initial guess that is not 0.
template <class Theirs, class Ours, class Matrix>
int compare(const Matrix& A, Eigen::Index iterations, double b_from = 0.1, double guess_from = 2) {
  using Scalar = typename Matrix::Scalar;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const auto tolerance = Eigen::NumTraits<Scalar>::epsilon() * 100;
  const Vector b = wave<Scalar>(A.rows(), b_from), guess = wave<Scalar>(A.cols(), guess_from);
  Theirs theirs;
  theirs.setTolerance(tolerance).setMaxIterations(iterations).compute(A);
  const Vector expected = theirs.solveWithGuess(b, guess);
  Ours ours;
  ours.setTolerance(tolerance).setMaxIterations(iterations).setWriter({.problem = "square"}).compute(A);
  const Vector x = ours.solveWithGuess(b, guess);
  std::printf("iterations %ld of Eigen's %ld\n", static_cast<long>(ours.iterations()),
              static_cast<long>(theirs.iterations()));
  const bool same_bits =
      std::memcmp(x.data(), expected.data(), sizeof(Scalar) * static_cast<std::size_t>(x.size())) == 0;
  return same_bits && ours.error() == theirs.error() && ours.info() == theirs.info() ? 0 : 1;
}

template <class Matrix, int UpLo, class Preconditioner = Eigen::DiagonalPreconditioner<typename Matrix::Scalar>>
int cg(Eigen::Index iterations) {
  return compare<Eigen::ConjugateGradient<Matrix, UpLo, Preconditioner>,
                 ringside::eigen::ConjugateGradient<Matrix, UpLo, Preconditioner>>(square<Matrix>(0), iterations);
}

template <class Matrix, class Preconditioner = Eigen::DiagonalPreconditioner<typename Matrix::Scalar>>
int bicgstab(Eigen::Index iterations) {
  return compare<Eigen::BiCGSTAB<Matrix, Preconditioner>, ringside::eigen::BiCGSTAB<Matrix, Preconditioner>>(
      square<Matrix>(0.3), iterations);
}

int least_squares(Eigen::Index iterations) {
  return compare<Eigen::LeastSquaresConjugateGradient<Sparse<double>>,
                 ringside::eigen::LeastSquaresConjugateGradient<Sparse<double>>>(tall(), iterations);
}

int matrix_free(Eigen::Index iterations) {
  using Preconditioner = Eigen::IdentityPreconditioner;
  return compare<Eigen::ConjugateGradient<Operator, kBoth, Preconditioner>,
                 ringside::eigen::ConjugateGradient<Operator, kBoth, Preconditioner>>(Operator(), iterations);
}

int dense(Eigen::Index iterations) {
  const Eigen::MatrixXd A = square<Sparse<double>>(0);
  return compare<Eigen::ConjugateGradient<Eigen::MatrixXd>, ringside::eigen::ConjugateGradient<Eigen::MatrixXd>>(
      A, iterations);
}

/// The case `cg` with another first entry of A, of b or of the initial guess.
int other(double entry, double b_from, double guess_from) {
  Sparse<double> A = square<Sparse<double>>(0);
  A.coeffRef(0, 0) = entry;
  return compare<Eigen::ConjugateGradient<Sparse<double>>, ringside::eigen::ConjugateGradient<Sparse<double>>>(
      A, 1000, b_from, guess_from);
}

/// In the first iteration, r becomes orthogonal to r0, so that BiCGSTAB chooses another r0.
int breakdown() {
  Eigen::Matrix3d A;
  A << 1, 1, -1, 1, 2, 0.5, 1, -0.3, 3;
  const Eigen::MatrixXd entries = A;
  Eigen::BiCGSTAB<Eigen::MatrixXd, Eigen::IdentityPreconditioner> theirs(entries);
  ringside::eigen::BiCGSTAB<Eigen::MatrixXd, Eigen::IdentityPreconditioner> ours(entries);
  const Eigen::VectorXd b = Eigen::Vector3d(1, 0, 0);
  const Eigen::VectorXd expected = theirs.solve(b), x = ours.solve(b);
  std::printf("iterations %ld of Eigen's %ld\n", static_cast<long>(ours.iterations()),
              static_cast<long>(theirs.iterations()));
  return ours.info() == Eigen::Success && x == expected ? 0 : 1;
}

/// Runs only the solver whose iterates are kept, for cases that have no iterates to compare.
template <class Right>
int end(double diagonal, const Right& b, Eigen::ComputationInfo expected) {
  Sparse<double> A = square<Sparse<double>>(0);
  A.coeffRef(0, 0) = diagonal;
  ringside::eigen::ConjugateGradient<Sparse<double>> cg(A);
  const Right x = cg.solve(b);
  std::printf("iterations %ld, error %g\n", static_cast<long>(cg.iterations()), cg.error());
  return cg.info() == expected ? 0 : 1;
}

/// Cases of other kinds, which the program does not list.
const std::map<std::string, std::function<int(Eigen::Index)>> kEnds = {
    {"other_matrix", [](auto) { return other(-4.5, 0.1, 2); }},
    {"other_b", [](auto) { return other(4.5, 0.3, 2); }},
    {"other_guess", [](auto) { return other(4.5, 0.1, 3); }},
    {"same", [](auto) { return other(4.5, 0.1, 2); }},
    {"breakdown", [](auto) { return breakdown(); }},
    {"not_finite", [](auto) { return end(NAN, wave<double>(kPoints, 0.1), Eigen::NumericalIssue); }},
    {"b_is_zero", [](auto) { return end(5, Eigen::VectorXd(Eigen::VectorXd::Zero(kPoints)), Eigen::Success); }},
    {"two_columns", [](auto) { return end(5, Eigen::MatrixXd(Eigen::MatrixXd::Ones(kPoints, 2)), Eigen::Success); }},
};

const std::map<std::string, std::function<int(Eigen::Index)>> kCases = {
    {"cg", cg<Sparse<double>, Eigen::Lower>},
    {"cg_upper", cg<Sparse<double>, Eigen::Upper>},
    {"cg_both", cg<Sparse<double>, kBoth>},
    {"cg_row_major", cg<Eigen::SparseMatrix<double, Eigen::RowMajor>, kBoth>},
    {"cg_float", cg<Sparse<float>, Eigen::Lower>},
    {"cg_complex", cg<Sparse<std::complex<double>>, Eigen::Lower>},
    {"cg_cholesky", cg<Sparse<double>, Eigen::Lower, Eigen::IncompleteCholesky<double>>},
    {"cg_dense", dense},
    {"cg_matrix_free", matrix_free},
    {"bicgstab", bicgstab<Sparse<double>>},
    {"bicgstab_ilu", bicgstab<Sparse<double>, Eigen::IncompleteLUT<double>>},
    {"bicgstab_complex", bicgstab<Sparse<std::complex<float>>>},
    {"least_squares", least_squares},
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (kEnds.contains(argv[1])) return kEnds.at(argv[1])(0);
  return kCases.at(argv[1])(std::atol(argv[2]));
} catch (const ringside::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}
