// The HTTP side of `ringside serve` (cpp-httplib): the page and its assets, /metrics, /api/status, /api/steps. It only
// reads, and trusts no client: it limits requests, time and connections, accepts only heads as the RFC defines them,
// only our own Host header while it serves loopback only, demands a token if one is configured, and offers nothing that
// a page of another origin could use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/history/watched_run.hpp"
#include "cli/http/access_token.hpp"
#include "cli/http/connection_loop.hpp"

namespace ringside {

struct ListenAddress {
  std::string host;  // a numeric address, or "localhost"
  int port = 0;      // 0: any that is free
  bool is_loopback() const noexcept;
};

/// Of "HOST:PORT", "[IPV6]:PORT". Throws Error (exit code 2).
ListenAddress parse_listen_address(const std::string& text);

class HttpServer {
 public:
  /// run: outlives the server. Throws Error (exit code 2) for an address beyond loopback without a token.
  HttpServer(const WatchedRun& run, ListenAddress address, std::optional<AccessToken> token,
             const ConnectionLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Answers from now on, on threads of its own, until it is destroyed. Throws Error (exit code 3) if the address is
  /// not to be had.
  void start();

  /// "http://127.0.0.1:9464/"
  std::string url() const;
  int port() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
