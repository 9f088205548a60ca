// SPDX-License-Identifier: BSD-3-Clause
// librsb (Martone, Parallel Computing 40, 2014; librsb-dev): recursive sparse blocks, y = A x. librsb has no pattern
// matrices: it keeps and reads a value of 8 B for each index.
#include <rsb.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/products/product.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/platform/error.hpp"

namespace ringside::bench {
namespace {

void check(rsb_err_t error, const char* what) {
  if (error != RSB_ERR_NO_ERROR) throw std::runtime_error(std::string(what) + " failed with " + std::to_string(error));
}

class Rsb final : public Product {
 public:
  explicit Rsb(int threads) {
    check(rsb_lib_init(RSB_NULL_INIT_OPTIONS), "rsb_lib_init");
    rsb_int_t wanted = threads;
    check(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &wanted), "rsb_lib_set_opt");
  }
  ~Rsb() override {
    rsb_mtx_free(a_);
    rsb_lib_exit(RSB_NULL_EXIT_OPTIONS);
  }

  std::string version() const override {
    return std::string(RSB_HEADER_VERSION_STRING).substr(std::string("librsb version ").size());
  }
  std::string what() const override { return "rsb_spmv, recursive blocks, with values"; }

  void load(const CsrMatrix& matrix) override {
    constexpr std::uint64_t kMost = 0x7fff'ffff;
    if (matrix.nonzeros() > kMost) {
      throw usage_error("found {} nonzeros, expected at most {} (the indices are int)", matrix.nonzeros(), kMost);
    }
    const auto n = static_cast<rsb_coo_idx_t>(matrix.rows);
    std::vector<rsb_coo_idx_t> begin(matrix.rows + 1);
    std::vector<rsb_coo_idx_t> column(matrix.nonzeros());
    const std::vector<double> value(matrix.nonzeros(), 1.0);
    std::transform(matrix.row_begin.begin(), matrix.row_begin.end(), begin.begin(),
                   [](std::uint64_t at) { return static_cast<rsb_coo_idx_t>(at); });
    std::transform(matrix.column.begin(), matrix.column.end(), column.begin(),
                   [](std::uint32_t at) { return static_cast<rsb_coo_idx_t>(at); });
    rsb_err_t error = RSB_ERR_NO_ERROR;
    a_ = rsb_mtx_alloc_from_csr_const(value.data(), begin.data(), column.data(),
                                      static_cast<rsb_nnz_idx_t>(matrix.nonzeros()), RSB_NUMERICAL_TYPE_DOUBLE, n, n,
                                      RSB_DEFAULT_ROW_BLOCKING, RSB_DEFAULT_COL_BLOCKING, RSB_FLAG_NOFLAGS, &error);
    check(error, "rsb_mtx_alloc_from_csr_const");
    x_.resize(matrix.rows);
    for (std::uint64_t j = 0; j < matrix.rows; ++j) x_[j] = operand(j);
    y_.assign(matrix.rows, 0.0);
  }

  void run() override {
    const double one = 1;
    const double zero = 0;
    check(rsb_spmv(RSB_TRANSPOSITION_N, &one, a_, x_.data(), 1, &zero, y_.data(), 1), "rsb_spmv");
  }

  double error(const CsrMatrix& matrix) override {
    double largest = 0;
    for (std::uint64_t row = 0; row < matrix.rows; ++row) largest = std::max(largest, row_error(matrix, row, y_[row]));
    return largest;
  }

 private:
  rsb_mtx_t* a_ = nullptr;
  std::vector<double> x_;
  std::vector<double> y_;
};

}  // namespace

std::unique_ptr<Product> make_product(int threads) {
  pin_threads(threads);
  return std::make_unique<Rsb>(threads);
}

}  // namespace ringside::bench
