// SPDX-License-Identifier: BSD-3-Clause
// NumPy's files: npy holds one array; npz is a zip archive of several.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <new>

#include "cli/export/formats/export_format.hpp"
#include "common/files/output_file.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

std::string shape_of(const Variable& variable) {
  std::string text = "(";
  for (const std::uint64_t extent : variable.shape) text += fmt::format("{}, ", extent);
  if (variable.shape.size() > 1) text.resize(text.size() - 2);  // Python writes a last comma only for one number
  if (variable.shape.size() == 1) text.pop_back();
  return text + ")";
}

/// The head of a file in NumPy's format 1.0: magic, version, header length and header. Padding makes the data start at
/// a multiple of 64 bytes.
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

/// npz is a zip archive of uncompressed npy files, one for each variable.
class NpzArchive {
 public:
  explicit NpzArchive(OutputFile& file) : file_(file), archive_(archive_write_new()), entry_(archive_entry_new()) {
    if (archive_ == nullptr || entry_ == nullptr) throw std::bad_alloc();
    archive_write_set_format_zip(archive_.get());
    archive_write_set_options(archive_.get(), "zip:compression=store");
    archive_write_set_bytes_per_block(archive_.get(), 0);
    check(archive_write_open2(archive_.get(), this, nullptr, write_some, nullptr, nullptr));
  }

  void add(const Variable& variable, const ExportedStep& step, std::size_t index) {
    const std::string head = npy_head(variable);
    archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry_.get(), (variable.name + ".npy").c_str());
    archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(head.size() + whole_of(variable.shape, bytes_of(variable.dtype)).bytes));
    archive_entry_set_filetype(entry_.get(), AE_IFREG);
    archive_entry_set_perm(entry_.get(), 0644);
    check(archive_write_header(archive_.get(), entry_.get()));
    write(head.data(), head.size());
    for_each_part(variable, step, index, [this](const void* data, std::size_t bytes) { write(data, bytes); });
  }

  void finish() { check(archive_write_close(archive_.get())); }

 private:
  void write(const void* data, std::size_t bytes) {
    const la_ssize_t written = archive_write_data(archive_.get(), data, bytes);
    check(written == static_cast<la_ssize_t>(bytes) ? ARCHIVE_OK : ARCHIVE_FATAL);
  }

  /// libarchive calls this function. An exception must not pass through this C library, so it is stored until the
  /// library has returned.
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
    const char* why = archive_error_string(archive_.get());
    throw system_error("npz: {}", why == nullptr ? "libarchive gives no reason" : why);
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

}  // namespace

std::string_view numpy_dtype(DType dtype) noexcept {
  constexpr std::string_view kNames[] = {"<f4", "<f8", "<c8", "<c16", "|i1", "<i2",
                                         "<i4", "<i8", "|u1", "<u2",  "<u4", "<u8"};
  return kNames[static_cast<std::uint16_t>(dtype) - 1];
}

void write_npy(OutputFile& file, const ExportTarget& target, const ExportedStep& step) {
  const Variable& variable = target.variables.at(0).variable;
  file.write(npy_head(variable));
  for_each_part(variable, step, 0, [&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
}

void write_npz(OutputFile& file, const ExportTarget& target, const ExportedStep& step) {
  NpzArchive archive(file);
  for (std::size_t v = 0; v < target.variables.size(); ++v) archive.add(target.variables[v].variable, step, v);
  archive.finish();
}

}  // namespace ringside
