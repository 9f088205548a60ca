// SPDX-License-Identifier: BSD-3-Clause
// An entry or a row that a solver refuses. The solver knows only the matrix. Afterwards, the entry's numbers and line
// are looked up in the input itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/platform/error.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// A place in a matrix, as the input writes it: `from` is the row (a link's source), `to` the column (its target).
struct MatrixPlace {
  enum class What { kEntry, kLinks, kRow };  // an entry; all links that leave `from`; a whole row
  What what = What::kEntry;
  std::uint64_t from = 0;  // an id if the matrix has ids, else an index from 0
  std::uint64_t to = 0;    // the column of an entry
  bool has_ids = false;

  static MatrixPlace of_entry(const CsrMatrix& matrix, std::uint64_t stored);
  static MatrixPlace of_links(const CsrMatrix& matrix, std::uint64_t row);
  static MatrixPlace of_row(const CsrMatrix& matrix, std::uint64_t row);
};

/// The place in the input's text.
struct PlaceInText {
  bool is_edge_list = false;  // if true and the matrix has no ids, the indices are the ids
  std::uint64_t line = 0;     // the line's number, from 1; 0: the place is on no line
  std::uint64_t lines = 0;    // the number of lines whose values add up to the entry
  std::string name = {};      // the text's name in messages, such as a member of an archive; empty: the file's name
};

/// True for a value that is refused alone. Other values may be refused only as parts of a sum.
using IsRefused = bool (*)(double) noexcept;

class RefusedEntry : public Error {
 public:
  /// found: such as "the weight -1". accepted: such as "PageRank accepts finite weights of 0 or more". test: returns
  /// true for values that are refused by themselves; may be null.
  RefusedEntry(const MatrixPlace& place, const std::string& found, const std::string& accepted,
               IsRefused test = nullptr);

  const MatrixPlace& place() const noexcept { return place_; }
  IsRefused is_refused() const noexcept { return is_refused_; }

  /// The message for the user: "FILE: line 3: found the weight -1 on the edge 0 1, ...".
  Error in(const std::string& file, const std::optional<PlaceInText>& where) const;

 private:
  MatrixPlace place_;
  std::string found_;
  std::string accepted_;
  IsRefused is_refused_;
};

/// Chooses which of an entry's lines is shown: the first line whose value is refused by itself, else the first line.
class LineChoice {
 public:
  explicit LineChoice(IsRefused is_refused) noexcept : is_refused_(is_refused) {}

  /// at: any number that identifies the line.
  void add(std::uint64_t at, double value) noexcept {
    const bool refused = is_refused_ != nullptr && is_refused_(value);
    if (lines_ == 0 || (refused && !refused_)) at_ = at;
    refused_ = refused_ || refused;
    ++lines_;
  }
  std::uint64_t at() const noexcept { return at_; }
  std::uint64_t lines() const noexcept { return lines_; }

 private:
  IsRefused is_refused_;
  bool refused_ = false;
  std::uint64_t at_ = 0;
  std::uint64_t lines_ = 0;
};

}  // namespace ringside
