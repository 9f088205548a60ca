// SPDX-License-Identifier: BSD-3-Clause
// Helpers for the tests of matrices: temporary folders, packed files, and matrices as readable lists of entries.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

/// (row, column, value) of every entry, in the order of the arrays.
using Entries = std::vector<std::tuple<std::uint64_t, std::uint64_t, double>>;

inline Entries entries_of(const CsrMatrix& matrix) {
  Entries entries;
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t k = matrix.row_begin[row]; k < matrix.row_begin[row + 1]; ++k) {
      entries.emplace_back(row, matrix.column[k], matrix.value.empty() ? 1.0 : matrix.value[k]);
    }
  }
  return entries;
}

template <class T>
::testing::AssertionResult same_bits(const Array<T>& a, const Array<T>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " and " << b.size() << " values";
  if (a.size() > 0 && std::memcmp(a.data(), b.data(), a.bytes()) != 0) {
    return ::testing::AssertionFailure() << "values differ";
  }
  return ::testing::AssertionSuccess();
}

inline void expect_same_matrix(const CsrMatrix& a, const CsrMatrix& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.orientation, b.orientation);
  EXPECT_TRUE(same_bits(a.row_begin, b.row_begin)) << "row_begin";
  EXPECT_TRUE(same_bits(a.column, b.column)) << "column";
  EXPECT_TRUE(same_bits(a.value, b.value)) << "value";
  EXPECT_TRUE(same_bits(a.id, b.id)) << "id";
  EXPECT_EQ(a.content_id, b.content_id);
}

}  // namespace ringside::testing
