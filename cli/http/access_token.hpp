// SPDX-License-Identifier: BSD-3-Clause
// The secret that admits a browser or Prometheus. The secret is read from a file that only the file's owner may read,
// and is compared in constant time. A browser exchanges it for a cookie that is valid until this process ends.
#pragma once

#include <string>
#include <string_view>

namespace ringside {

class AccessToken {
 public:
  /// Throws Error: exit code 2 if the file cannot be opened, if other users may read it, or if it is not one line of 16
  /// to 512 letters, digits and -._~; 3 if reading it fails.
  static AccessToken read(const std::string& file);

  explicit AccessToken(std::string token);

  /// Takes the same time wherever the first differing character is.
  bool matches(std::string_view candidate) const noexcept;
  /// The cookie's value, which a browser sends after it has presented the token.
  const std::string& session() const noexcept { return session_; }
  bool matches_session(std::string_view candidate) const noexcept;

 private:
  std::string token_;
  std::string session_;
};

}  // namespace ringside
