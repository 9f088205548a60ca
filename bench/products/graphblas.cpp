// SPDX-License-Identifier: BSD-3-Clause
// SuiteSparse:GraphBLAS (Davis, ACM TOMS 45(4), 2019; libgraphblas-dev): the product with the semiring PLUS_SECOND.
// This product never reads A's values, so A holds a single value (iso). The result is added to the vector in place, as
// in LAGraph's PageRank, or a new vector is made. The program tries both variants before the timing, and uses the
// faster one.
extern "C" {  // the header itself does not declare C linkage
#include <GraphBLAS.h>
}

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "bench/products/product.hpp"
#include "bench/programs/machine_header.hpp"
#include "common/platform/clock.hpp"

namespace ringside::bench {
namespace {

void check(GrB_Info info, const char* what) {
  if (info != GrB_SUCCESS) throw std::runtime_error(std::string(what) + " failed with " + std::to_string(info));
}

// Memory for GraphBLAS, which frees the arrays that it receives.
template <class T>
T* allocate(std::uint64_t count) {
  T* const memory = static_cast<T*>(std::malloc(std::max<std::uint64_t>(count, 1) * sizeof(T)));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

class GraphBlas final : public Product {
 public:
  explicit GraphBlas(int threads) {
    check(GrB_init(GrB_NONBLOCKING), "GrB_init");
    check(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads), "GxB_Global_Option_set");
  }
  ~GraphBlas() override {
    GrB_Matrix_free(&a_);
    GrB_Vector_free(&x_);
    GrB_Vector_free(&y_);
    GrB_finalize();
  }

  std::string version() const override {
    int version[3] = {};
    GxB_Global_Option_get(GxB_LIBRARY_VERSION, version);
    return std::to_string(version[0]) + '.' + std::to_string(version[1]) + '.' + std::to_string(version[2]);
  }
  std::string what() const override {
    return std::string("GrB_mxv, PLUS_SECOND, pattern") + (in_place_ ? ", added to y in place" : "");
  }

  void load(const CsrMatrix& matrix) override {
    const GrB_Index n = matrix.rows;
    auto* begin = allocate<GrB_Index>(n + 1);
    auto* column = allocate<GrB_Index>(matrix.nonzeros());
    auto* one = allocate<double>(1);
    *one = 1;
    std::copy(matrix.row_begin.begin(), matrix.row_begin.end(), begin);
    std::copy(matrix.column.begin(), matrix.column.end(), column);
    check(GrB_Matrix_new(&a_, GrB_FP64, n, n), "GrB_Matrix_new");
    void* values = one;
    check(GxB_Matrix_pack_CSR(a_, &begin, &column, &values, (n + 1) * sizeof(GrB_Index),
                              std::max<GrB_Index>(matrix.nonzeros(), 1) * sizeof(GrB_Index), sizeof(double), true,
                              false, nullptr),
          "GxB_Matrix_pack_CSR");
    check(GrB_Matrix_wait(a_, GrB_MATERIALIZE), "GrB_wait");
    fill(x_, n, [](std::uint64_t j) { return operand(j); });
    clear();
    choose();
    clear();
  }

  void run() override {
    check(GrB_mxv(y_, nullptr, in_place_ ? GrB_PLUS_FP64 : nullptr, GxB_PLUS_SECOND_FP64, a_, x_, nullptr), "GrB_mxv");
    check(GrB_Vector_wait(y_, GrB_COMPLETE), "GrB_wait");
  }

  double error(const CsrMatrix& matrix) override {
    double largest = 0;
    for (std::uint64_t row = 0; row < matrix.rows; ++row) {
      double y = 0;
      const GrB_Info info = GrB_Vector_extractElement_FP64(&y, y_, row);
      if (info != GrB_NO_VALUE) check(info, "GrB_Vector_extractElement");
      largest = std::max(largest, row_error(matrix, row, y));
    }
    return largest;
  }

 private:
  template <class Value>
  static void fill(GrB_Vector& vector, GrB_Index n, const Value& value) {
    auto* values = allocate<double>(n);
    for (GrB_Index j = 0; j < n; ++j) values[j] = value(j);
    void* packed = values;
    if (vector == nullptr) check(GrB_Vector_new(&vector, GrB_FP64, n), "GrB_Vector_new");
    check(GxB_Vector_pack_Full(vector, &packed, n * sizeof(double), false, nullptr), "GxB_Vector_pack_Full");
  }

  void clear() {
    GrB_Index n = 0;
    check(GrB_Matrix_nrows(&n, a_), "GrB_Matrix_nrows");
    fill(y_, n, [](std::uint64_t) { return 0.0; });
  }

  void choose() {
    constexpr int kTries = 5;
    std::vector<std::int64_t> ns[2];
    for (int i = -1; i < kTries; ++i) {  // the first warms up
      for (const int way : {0, 1}) {
        in_place_ = way == 1;
        const std::int64_t begin = now_ns();
        run();
        if (i >= 0) ns[way].push_back(now_ns() - begin);
      }
    }
    for (auto& times : ns) std::sort(times.begin(), times.end());
    in_place_ = ns[1][kTries / 2] < ns[0][kTries / 2];
  }

  GrB_Matrix a_ = nullptr;
  GrB_Vector x_ = nullptr;
  GrB_Vector y_ = nullptr;
  bool in_place_ = false;
};

}  // namespace

std::unique_ptr<Product> make_product(int threads) {
  pin_threads(threads);
  return std::make_unique<GraphBlas>(threads);
}

}  // namespace ringside::bench
