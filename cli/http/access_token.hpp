// The secret that lets a browser or Prometheus in: read from a file that is its owner's alone, compared in constant
// time, and for browsers exchanged for a cookie that is worth nothing once this process has ended.
#pragma once

#include <string>
#include <string_view>

namespace ringside {

class AccessToken {
 public:
  /// Throws Error: exit code 2 for a file that others may read, or that holds anything but one line of 16 to 512
  /// letters, digits and -._~; 3 if it cannot be read.
  static AccessToken read(const std::string& file);

  explicit AccessToken(std::string token);

  /// Takes the same time wherever `candidate` differs.
  bool matches(std::string_view candidate) const noexcept;
  /// What a browser that has shown the token shows from then on.
  const std::string& session() const noexcept { return session_; }
  bool matches_session(std::string_view candidate) const noexcept;

 private:
  std::string token_;
  std::string session_;
};

}  // namespace ringside
