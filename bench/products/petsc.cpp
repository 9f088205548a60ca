// SPDX-License-Identifier: BSD-3-Clause
// PETSc (petsc-dev): MatMult of an AIJ matrix. PETSc runs in parallel as processes, so this program is started several
// times (mpiexec -n THREADS). Each process has a part of the matrix's rows with about the same work. PETSc has no
// pattern matrices: it keeps and reads a value of 8 B for each column index.
#include <petscmat.h>
#include <time.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/products/product.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/platform/error.hpp"
#include "producer/matrix/csr_builder.hpp"

namespace ringside::bench {
namespace {

void check(PetscErrorCode error, const char* what) {
  if (error != 0) throw std::runtime_error(std::string(what) + " failed with " + std::to_string(error));
}

class Petsc final : public Product {
 public:
  explicit Petsc(int processes) {
    check(PetscInitializeNoArguments(), "PetscInitialize");
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank_);
    MPI_Comm_size(PETSC_COMM_WORLD, &size_);
    if (size_ != processes) {
      throw usage_error("--threads {}: found {} processes, expected a start by mpiexec -n {}", processes, size_,
                        processes);
    }
    pin_process(rank_, size_);
  }
  ~Petsc() override {
    VecDestroy(&x_);
    VecDestroy(&y_);
    MatDestroy(&a_);
    PetscFinalize();
  }

  std::string version() const override {
    return std::to_string(PETSC_VERSION_MAJOR) + '.' + std::to_string(PETSC_VERSION_MINOR) + '.' +
           std::to_string(PETSC_VERSION_SUBMINOR);
  }
  std::string what() const override { return "MatMult of AIJ, one process per core, with values"; }

  void load(const CsrMatrix& matrix) override {
    const std::vector<std::uint64_t> bound =
        balanced_rows(matrix.row_begin.data(), matrix.rows, static_cast<std::size_t>(size_));
    first_ = bound[static_cast<std::size_t>(rank_)];
    const std::uint64_t last = bound[static_cast<std::size_t>(rank_) + 1];
    const std::uint64_t at = matrix.row_begin[first_];
    const std::uint64_t entries = matrix.row_begin[last] - at;
    constexpr std::uint64_t kMost = 0x7fff'ffff;
    if (entries > kMost) throw usage_error("found {} nonzeros, expected at most {} for a process", entries, kMost);

    std::vector<PetscInt> begin(last - first_ + 1);
    std::vector<PetscInt> column(entries);
    const std::vector<PetscScalar> value(entries, 1.0);
    for (std::uint64_t row = first_; row <= last; ++row) {
      begin[row - first_] = static_cast<PetscInt>(matrix.row_begin[row] - at);
    }
    for (std::uint64_t e = 0; e < entries; ++e) column[e] = static_cast<PetscInt>(matrix.column[at + e]);

    const auto rows = static_cast<PetscInt>(last - first_);
    const auto n = static_cast<PetscInt>(matrix.rows);
    check(MatCreate(PETSC_COMM_WORLD, &a_), "MatCreate");
    check(MatSetSizes(a_, rows, rows, n, n), "MatSetSizes");
    check(MatSetType(a_, MATAIJ), "MatSetType");
    // Only one of these calls fits the type of the matrix; the other one has no effect.
    check(MatSeqAIJSetPreallocationCSR(a_, begin.data(), column.data(), value.data()), "MatSeqAIJSetPreallocationCSR");
    check(MatMPIAIJSetPreallocationCSR(a_, begin.data(), column.data(), value.data()), "MatMPIAIJSetPreallocationCSR");
    check(MatCreateVecs(a_, &x_, &y_), "MatCreateVecs");
    PetscScalar* x = nullptr;
    check(VecGetArray(x_, &x), "VecGetArray");
    for (std::uint64_t row = first_; row < last; ++row) x[row - first_] = operand(row);
    check(VecRestoreArray(x_, &x), "VecRestoreArray");
  }

  void run() override { check(MatMult(a_, x_, y_), "MatMult"); }

  double error(const CsrMatrix& matrix) override {
    const PetscScalar* y = nullptr;
    PetscInt rows = 0;
    check(VecGetLocalSize(y_, &rows), "VecGetLocalSize");
    check(VecGetArrayRead(y_, &y), "VecGetArrayRead");
    double largest = 0;
    for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(rows); ++r) {
      largest = std::max(largest, row_error(matrix, first_ + r, y[r]));
    }
    check(VecRestoreArrayRead(y_, &y), "VecRestoreArrayRead");
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
    return largest;
  }

  bool leads() const override { return rank_ == 0; }

  // The first process reads the driver's lines and forwards them. The other processes probe for a line a thousand times
  // per second, and sleep between these probes, because an MPI receive would spin while other programs are measured.
  bool next_command(std::string& line) override {
    constexpr int kTag = 1;
    if (leads()) {
      const bool more = Product::next_command(line);
      if (!more) line.clear();
      for (int to = 1; to < size_; ++to) {
        MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, to, kTag, PETSC_COMM_WORLD);
      }
      return more;
    }
    MPI_Status status;
    for (int found = 0; MPI_Iprobe(0, kTag, PETSC_COMM_WORLD, &found, &status), found == 0;) {
      const timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
      nanosleep(&millisecond, nullptr);
    }
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    line.resize(static_cast<std::size_t>(length));
    MPI_Recv(line.data(), length, MPI_CHAR, 0, kTag, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    return length > 0;
  }

  void line_up() override { MPI_Barrier(PETSC_COMM_WORLD); }

 private:
  int rank_ = 0;
  int size_ = 1;
  std::uint64_t first_ = 0;
  Mat a_ = nullptr;
  Vec x_ = nullptr;
  Vec y_ = nullptr;
};

}  // namespace

std::unique_ptr<Product> make_product(int threads) {
  return std::make_unique<Petsc>(threads);
}

}  // namespace ringside::bench
