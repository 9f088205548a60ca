#include "common/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/error.hpp"
#include "common/hash.hpp"

namespace ringside {
namespace {

bool is_written_in_place(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode)) return !S_ISDIR(status.st_mode);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0;
}

}  // namespace

UniqueFd create_beside(const std::string& path, mode_t mode, std::string& made) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    made = path + "." + to_string(random_id()).substr(0, 6);
    UniqueFd fd(open(made.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (fd.valid() || errno != EEXIST) return fd;
  }
  return {};
}

void refuse_to_replace_pool(const std::string& path, const std::string& option) {
  constexpr char kPoolBegins[] = "PMEMOBJ";  // libpmemobj's signature, with the zero behind it
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char begin[sizeof kPoolBegins] = {};
  if (!file.valid() || read(file.get(), begin, sizeof begin) != static_cast<ssize_t>(sizeof begin)) return;
  if (std::memcmp(begin, kPoolBegins, sizeof begin) != 0) return;
  throw usage_error("{}: '{}' is a pool, whose iterates would be lost; expected another file", option, path);
}

OutputFile::OutputFile(std::string path, std::string option) : path_(std::move(path)), option_(std::move(option)) {
  refuse_to_replace_pool(path_, option_);
  UniqueFd fd;
  if (is_written_in_place(path_)) {
    fd.reset(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOutputMode));
  } else {
    fd = create_beside(path_, kOutputMode, partial_);
  }
  if (!fd.valid()) {
    const int error = errno;
    partial_.clear();
    fail(error);
  }
  file_.reset(fdopen(fd.get(), "wb"));
  if (!file_) fail(errno);
  fd.release();
}

OutputFile::~OutputFile() {
  if (!partial_.empty()) unlink(partial_.c_str());
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (std::fwrite(data, 1, bytes, file_.get()) != bytes) fail(errno);
}

void OutputFile::finish() {
  if (std::fflush(file_.get()) != 0) fail(errno);
  // On the disk before it gets its name: after a power cut there is the old file or the new one, never an empty one.
  if (!partial_.empty() && fsync(fileno(file_.get())) != 0) fail(errno);
  if (std::fclose(file_.release()) != 0) fail(errno);
  if (partial_.empty()) return;
  if (rename(partial_.c_str(), path_.c_str()) != 0) fail(errno);
  partial_.clear();
}

void OutputFile::fail(int error) const {
  throw system_error("{}: cannot write '{}': {}", option_, path_, errno_text(error));
}

}  // namespace ringside
