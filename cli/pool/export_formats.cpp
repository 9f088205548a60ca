// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/export_formats.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

std::string shape_of(const Variable& variable) {
  std::string text = "(";
  for (const std::uint64_t extent : variable.shape) text += fmt::format("{}, ", extent);
  if (variable.shape.size() > 1) text.resize(text.size() - 2);  // Python writes (3, 4), but (3,)
  if (variable.shape.size() == 1) text.pop_back();
  return text + ")";
}

/// The head of NumPy's format 1.0: magic, version, header length, header, padded so that the data start at a multiple
/// of 64.
std::string npy_head(const Variable& variable) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   numpy_dtype(variable.dtype), shape_of(variable));
  constexpr std::size_t kPreambleBytes = 10;
  header.append(63 - (kPreambleBytes + header.size()) % 64, ' ');
  header += '\n';
  const std::size_t length = header.size();
  const char preamble[kPreambleBytes] = {
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return std::string(preamble, sizeof preamble) + header;
}

void accept_every(const Variable&) {}

void write_npy(OutputFile& file, std::span<const ExportedVariable> variables) {
  file.write(npy_head(variables[0].variable));
  file.write(variables[0].values.data(), variables[0].values.size());
}

/// npz is a zip archive of npy files, one for each variable, not compressed.
class NpzArchive {
 public:
  explicit NpzArchive(OutputFile& file) : file_(file), archive_(archive_write_new()), entry_(archive_entry_new()) {
    if (archive_ == nullptr || entry_ == nullptr) throw std::bad_alloc();
    archive_write_set_format_zip(archive_.get());
    archive_write_set_options(archive_.get(), "zip:compression=store");
    archive_write_set_bytes_per_block(archive_.get(), 0);
    check(archive_write_open2(archive_.get(), this, nullptr, write_some, nullptr, nullptr));
  }

  void add(const ExportedVariable& variable) {
    const std::string head = npy_head(variable.variable);
    archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry_.get(), (variable.variable.name + ".npy").c_str());
    archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(head.size() + variable.values.size()));
    archive_entry_set_filetype(entry_.get(), AE_IFREG);
    archive_entry_set_perm(entry_.get(), 0644);
    check(archive_write_header(archive_.get(), entry_.get()));
    write(head.data(), head.size());
    write(variable.values.data(), variable.values.size());
  }

  void finish() { check(archive_write_close(archive_.get())); }

 private:
  void write(const void* data, std::size_t bytes) {
    constexpr std::size_t kMostAtATime = std::size_t{1} << 30;  // libarchive takes no more than 2^31 - 1
    const auto* from = static_cast<const std::byte*>(data);
    for (std::size_t done = 0; done < bytes; done += kMostAtATime) {
      const std::size_t part = std::min(kMostAtATime, bytes - done);
      const la_ssize_t written = archive_write_data(archive_.get(), from + done, part);
      check(written == static_cast<la_ssize_t>(part) ? ARCHIVE_OK : ARCHIVE_FATAL);
    }
  }

  /// Called by libarchive, which is C: an exception waits until it has returned.
  static la_ssize_t write_some(archive* to, void* self, const void* data, std::size_t bytes) noexcept {
    auto* npz = static_cast<NpzArchive*>(self);
    try {
      npz->file_.write(data, bytes);
      return static_cast<la_ssize_t>(bytes);
    } catch (...) {
      npz->failure_ = std::current_exception();
      archive_set_error(to, -1, "the output failed");
      return -1;
    }
  }

  void check(int status) {
    if (failure_) std::rethrow_exception(failure_);
    if (status == ARCHIVE_OK) return;
    const char* reason = archive_error_string(archive_.get());
    throw system_error("npz: {}", reason != nullptr ? reason : "libarchive wrote less than it was given");
  }

  struct Free {
    void operator()(archive* it) const noexcept { archive_write_free(it); }
    void operator()(archive_entry* it) const noexcept { archive_entry_free(it); }
  };
  OutputFile& file_;
  std::exception_ptr failure_;
  std::unique_ptr<archive, Free> archive_;
  std::unique_ptr<archive_entry, Free> entry_;
};

void write_npz(OutputFile& file, std::span<const ExportedVariable> variables) {
  NpzArchive archive(file);
  for (const ExportedVariable& variable : variables) archive.add(variable);
  archive.finish();
}

void accept_real_tables(const Variable& variable) {
  const bool real = class_of(variable.dtype) == DTypeClass::kReal;
  if (real && variable.shape.size() <= 2) return;
  throw usage_error("--format: csv and mtx hold real numbers of at most two dimensions, '{}' is {}; give npy or npz",
                    variable.name, to_text(variable));
}

/// Calls use(row, column, text) for each entry, in the order of the rows. {} prints the shortest text that reads back
/// as the same number: text formats lose no bit.
template <class Use>
void for_each_entry(const ExportedVariable& from, const Use& use) {
  const std::vector<std::uint64_t>& shape = from.variable.shape;
  const std::uint64_t columns = shape.size() == 2 ? shape[1] : 1;
  const std::size_t bytes = bytes_of(from.variable.dtype);
  for (std::uint64_t i = 0; i < from.values.size() / bytes; ++i) {
    const std::byte* entry = from.values.data() + i * bytes;
    if (from.variable.dtype == DType::kF64) {
      double value;
      std::memcpy(&value, entry, sizeof value);
      use(i / columns, i % columns, fmt::format("{}", value));
    } else {
      float value;
      std::memcpy(&value, entry, sizeof value);
      use(i / columns, i % columns, fmt::format("{}", value));
    }
  }
}

void write_csv(OutputFile& file, std::span<const ExportedVariable> variables) {
  const bool table = variables[0].variable.shape.size() == 2;
  file.write(table ? "row,column,value\n" : "row,value\n");
  for_each_entry(variables[0], [&](std::uint64_t row, std::uint64_t column, const std::string& value) {
    file.write(table ? fmt::format("{},{},{}\n", row, column, value) : fmt::format("{},{}\n", row, value));
  });
}

void write_mtx(OutputFile& file, std::span<const ExportedVariable> variables) {
  const Variable& variable = variables[0].variable;
  const std::uint64_t rows = variable.shape.empty() ? 1 : variable.shape[0];
  const std::uint64_t columns = variable.shape.size() == 2 ? variable.shape[1] : 1;
  file.write(fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", rows, columns));
  if (columns == 1) {
    for_each_entry(variables[0], [&](auto, auto, const std::string& value) { file.write(value + "\n"); });
    return;
  }
  // Matrix Market's arrays are column by column.
  std::vector<std::string> texts(rows * columns);
  for_each_entry(variables[0], [&](std::uint64_t row, std::uint64_t column, const std::string& value) {
    texts[column * rows + row] = value + "\n";
  });
  for (const std::string& text : texts) file.write(text);
}

constexpr ExportFormat kFormats[] = {{"npy", false, accept_every, write_npy},
                                     {"npz", true, accept_every, write_npz},
                                     {"csv", false, accept_real_tables, write_csv},
                                     {"mtx", false, accept_real_tables, write_mtx}};

}  // namespace

std::span<const ExportFormat> export_formats() {
  return kFormats;
}

std::string_view numpy_dtype(DType dtype) noexcept {
  constexpr std::string_view kNames[] = {"<f4", "<f8", "<c8", "<c16", "|i1", "<i2",
                                         "<i4", "<i8", "|u1", "<u2",  "<u4", "<u8"};
  return kNames[static_cast<std::uint16_t>(dtype) - 1];
}

}  // namespace ringside
