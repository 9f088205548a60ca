#include "cli/runtime_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "common/error.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "ringside-";
constexpr char kSocket[] = "analyzer.socket";
constexpr char kLongestSuffix[] = ".telemetry";  // of the sockets beside the analyzer's own

std::vector<fs::path> bases() {
  std::vector<fs::path> bases;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime != '\0') {
    bases.emplace_back(runtime);
  }
  bases.push_back(fs::temp_directory_path());
  return bases;
}

std::vector<fs::path> folders_in(const fs::path& base) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    if (entry.path().filename().string().starts_with(kPrefix)) found.push_back(entry.path());
  }
  return found;
}

UniqueFd locked(const fs::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.valid() && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

/// Removes what runs left that could not: nobody holds its lock, or its analyzer's, and it is old enough not to be one
/// that is being made.
void remove_abandoned(const fs::path& base) {
  constexpr std::time_t kYoungS = 60;
  for (const fs::path& folder : folders_in(base)) {
    const UniqueFd lock = locked(folder);
    struct stat status {};
    if (!lock.valid() || fstat(lock.get(), &status) != 0) continue;
    if (status.st_uid != geteuid() || std::time(nullptr) - status.st_ctime < kYoungS) continue;
    const fs::path analyzer_lock = folder / (std::string(kSocket) + ".lock");
    std::error_code ignored;
    if (locked(analyzer_lock).valid()) {
      fs::remove_all(folder, ignored);
    } else if (!fs::exists(analyzer_lock, ignored)) {
      rmdir(folder.c_str());  // empty, or not of our making
    }
  }
}

}  // namespace

RuntimeFolder::RuntimeFolder() {
  for (const fs::path& base : bases()) {
    remove_abandoned(base);
    if (try_under(base)) return;
  }
  throw system_error("cannot create a folder for the socket in {}: {}", fs::temp_directory_path().string(),
                     errno_text(errno));
}

RuntimeFolder::~RuntimeFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string RuntimeFolder::socket() const {
  return path_ + "/" + kSocket;
}

bool RuntimeFolder::try_under(const fs::path& base) {
  path_ = (base / kPrefix).string() + "XXXXXX";
  errno = ENAMETOOLONG;
  if (socket().size() + sizeof kLongestSuffix > sizeof(sockaddr_un::sun_path)) return false;
  if (mkdtemp(path_.data()) == nullptr) return false;
  lock_ = locked(path_);
  return true;
}

std::vector<std::string> sockets_of_runs() {
  std::vector<std::string> found;
  for (const fs::path& base : bases()) {
    for (const fs::path& folder : folders_in(base)) found.push_back((folder / kSocket).string());
  }
  return found;
}

}  // namespace ringside
