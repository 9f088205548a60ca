// SPDX-License-Identifier: BSD-3-Clause
#include "cli/http/access_token.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <utility>

#include "common/files/regular_file.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 512;

/// Does not return early, so that the duration of the comparison does not reveal where the first difference is.
bool equal_in_constant_time(std::string_view secret, std::string_view candidate) noexcept {
  volatile unsigned difference = secret.size() == candidate.size() ? 0 : 1;
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    const char expected = secret[i % secret.size()];
    difference = difference | static_cast<unsigned>(static_cast<unsigned char>(expected ^ candidate[i]));
  }
  return difference == 0;
}

bool is_well_formed(std::string_view token) {
  return token.size() >= kShortest && token.size() <= kLongest &&
         std::all_of(token.begin(), token.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 ||
                               std::string_view("-._~").find(static_cast<char>(c)) != std::string_view::npos);
         });
}

}  // namespace

AccessToken AccessToken::read(const std::string& file) {
  const RegularFile opened = open_regular(file, O_RDONLY);
  if (!opened.valid()) {
    throw usage_error("--token-file: cannot read '{}': {}; expected a file with one line, the token", file,
                      opened.why());
  }
  const struct stat& status = opened.status;
  if ((status.st_mode & 077) != 0) {
    throw usage_error("--token-file: other users may read '{}' (mode {:o}); expected mode 600: chmod 600 '{}'", file,
                      status.st_mode & 0777, file);
  }
  std::string token(kLongest + 2, '\0');
  const ssize_t bytes = ::read(opened.fd.get(), token.data(), token.size());
  if (bytes < 0) throw system_error("--token-file: cannot read '{}': {}", file, errno_text(errno));
  token.resize(static_cast<std::size_t>(bytes));
  if (token.ends_with('\n')) token.pop_back();
  if (!is_well_formed(token)) {
    throw usage_error(
        "--token-file: '{}': expected one line of {} to {} letters, digits and -._~, as `openssl rand "
        "-hex 32` prints",
        file, kShortest, kLongest);
  }
  return AccessToken(std::move(token));
}

AccessToken::AccessToken(std::string token)
    : token_(std::move(token)), session_(to_string(random_id()) + to_string(random_id())) {}

bool AccessToken::matches(std::string_view candidate) const noexcept {
  return equal_in_constant_time(token_, candidate);
}

bool AccessToken::matches_session(std::string_view candidate) const noexcept {
  return equal_in_constant_time(session_, candidate);
}

}  // namespace ringside
