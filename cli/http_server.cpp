#include "cli/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/connection_queue.hpp"
#include "cli/page_assets.hpp"
#include "common/decimal.hpp"
#include "common/error.hpp"
#include "common/printable.hpp"
#include "common/unique_fd.hpp"

namespace ringside {
namespace {

using httplib::Request;
using httplib::Response;

constexpr std::size_t kThreads = 16;
constexpr std::size_t kWaiting = 64;
constexpr std::size_t kStepsUnlessTold = 1000;
constexpr std::size_t kMostSteps = 2000;  // an answer of about a megabyte
constexpr const char* kCookie = "ringside_session";

// Only what this server sends runs, nothing is loaded from or sent to elsewhere, and nobody frames it.
const httplib::Headers kHeaders = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

/// cpp-httplib's requests and answers over our own streams: one request a connection.
class LimitedServer : public httplib::Server {
 public:
  explicit LimitedServer(const ConnectionLimits& limits)
      : limits_(limits), stopping_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!stopping_.valid()) throw system_error("an eventfd cannot be made: {}", errno_text(errno));
  }

  /// Once bound. The library lets 5 connections wait in the kernel; others would try again after seconds.
  void let_wait(int connections) { ::listen(svr_sock_, connections); }

  /// Connections that are open or wait are hung up on, so that `stop` does not take as long as they may.
  void hang_up() { eventfd_write(stopping_.get(), 1); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    BoundedStream stream(socket, limits_, stopping_.get());
    bool closed = false;
    const bool done = process_request(stream, true, closed, [](Request& request) {
      // Not compressed: what crosses loopback is not worth a core beside the solver.
      request.headers.erase("Accept-Encoding");
      // Whole answers only: of a thousand ranges the library would make a thousand copies.
      request.headers.erase("Range");
      request.ranges.clear();
    });
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return done;
  }

  const ConnectionLimits limits_;
  const UniqueFd stopping_;
};

/// The name in a Host header, without its port.
std::string_view host_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  return has_port ? host.substr(0, colon) : host;
}

/// A page elsewhere whose name was made to resolve to loopback still says its own name here.
bool is_our_name(std::string_view host, const std::string& listens_at) {
  const std::string_view name = host_name(host);
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]" || name == listens_at;
}

std::optional<std::string> cookie(const Request& request, std::string_view wanted) {
  const std::string all = request.get_header_value("Cookie");
  std::string_view rest = all;
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    std::string_view one = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos && one.substr(0, equals) == wanted) return std::string(one.substr(equals + 1));
  }
  return std::nullopt;
}

void refuse(Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(why + "\n", "text/plain; charset=utf-8");
}

}  // namespace

bool ListenAddress::is_loopback() const noexcept {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return host == "localhost" || host == "::1";
}

ListenAddress parse_listen_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  ListenAddress address;
  if (colon != std::string::npos) address.host = text.substr(0, colon);
  const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  const auto port = colon == std::string::npos ? std::nullopt : whole_number(text.substr(colon + 1));
  in6_addr parsed{};
  const bool numeric = inet_pton(bracketed ? AF_INET6 : AF_INET, address.host.c_str(), &parsed) == 1;
  if (!port || *port > 65535 || !(numeric || (address.host == "localhost" && !bracketed))) {
    throw usage_error(
        "--listen: found '{}', expected HOST:PORT with a numeric address and a port from 0 to 65535, as 127.0.0.1:9464 "
        "or [::1]:9464",
        shortened(text));
  }
  address.port = static_cast<int>(*port);
  return address;
}

struct HttpServer::Implementation {
  Implementation(const WatchedRun& watched, ListenAddress listen, std::optional<AccessToken> access,
                 const ConnectionLimits& limits)
      : run(watched), address(std::move(listen)), token(std::move(access)), server(limits) {
    server.set_default_headers(kHeaders);
    server.set_payload_max_length(0);
    // The library would also set SO_REUSEPORT, with which another process can take half of our connections.
    server.set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    server.new_task_queue = [] { return new ConnectionQueue(kThreads, kWaiting); };
    server.set_pre_routing_handler([this](const Request& request, Response& response) {
      if (may_pass(request, response)) answer(request, response);
      return httplib::Server::HandlerResponse::Handled;
    });
    server.set_exception_handler([](const Request&, Response& response, std::exception_ptr) {
      refuse(response, 500, "this request could not be answered");
    });
  }

  bool may_pass(const Request& request, Response& response) const {
    if (address.is_loopback() && !is_our_name(request.get_header_value("Host"), address.host)) {
      refuse(response, 421, "Host: expected localhost, 127.0.0.1 or [::1], or the address that is listened at");
      return false;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      refuse(response, 405, "expected GET or HEAD");
      return false;
    }
    return !token || shows_token(request, response);
  }

  /// In a header (Prometheus, scripts), by the cookie, or once in the address, which becomes the cookie.
  bool shows_token(const Request& request, Response& response) const {
    constexpr std::string_view kBearer = "Bearer ";
    const std::string authorization = request.get_header_value("Authorization");
    if (authorization.starts_with(kBearer) && token->matches(std::string_view(authorization).substr(kBearer.size()))) {
      return true;
    }
    if (const auto session = cookie(request, kCookie); session && token->matches_session(*session)) return true;
    if (request.has_param("token") && token->matches(request.get_param_value("token"))) {
      // Off the address bar, so that it does not end in a history or a screenshot.
      response.set_header("Set-Cookie",
                          fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", kCookie, token->session()));
      response.set_redirect("/", 303);
      return false;
    }
    response.set_header("WWW-Authenticate", "Bearer realm=\"ringside\"");
    refuse(response, 401, "a token is needed: a header 'Authorization: Bearer TOKEN', or /?token=TOKEN in a browser");
    return false;
  }

  void answer(const Request& request, Response& response) const {
    response.status = 200;
    if (request.path == "/metrics") {
      response.set_content(run.metrics_text(), "text/plain; version=0.0.4; charset=utf-8");
    } else if (request.path == "/api/status") {
      response.set_content(run.status_json(), "application/json");
    } else if (request.path == "/api/steps") {
      answer_steps(request, response);
    } else if (const PageAsset* asset = find_page_asset(request.path == "/" ? "/index.html" : request.path)) {
      response.set_content(asset->content.data(), asset->content.size(), std::string(asset->content_type));
    } else {
      refuse(response, 404, "not found; there are /, /metrics, /api/status and /api/steps?from=SEQ&limit=N");
    }
  }

  void answer_steps(const Request& request, Response& response) const {
    const auto from = request.has_param("from") ? whole_number(request.get_param_value("from")) : 0;
    const auto limit = request.has_param("limit") ? whole_number(request.get_param_value("limit")) : kStepsUnlessTold;
    if (!from || !limit || *limit < 1 || *limit > kMostSteps) {
      refuse(response, 400, fmt::format("expected from=SEQ, a number, and limit=N, 1 to {}", kMostSteps));
      return;
    }
    response.set_content(run.steps_json(*from, *limit), "application/json");
  }

  const WatchedRun& run;
  ListenAddress address;
  const std::optional<AccessToken> token;
  LimitedServer server;
  std::thread listener;
};

HttpServer::HttpServer(const WatchedRun& run, ListenAddress address, std::optional<AccessToken> token,
                       const ConnectionLimits& limits) {
  if (!address.is_loopback() && !token) {
    throw usage_error("--listen {}:{}: others can reach this address, so --token-file is needed", address.host,
                      address.port);
  }
  implementation_ = std::make_unique<Implementation>(run, std::move(address), std::move(token), limits);
}

HttpServer::~HttpServer() {
  if (!implementation_->listener.joinable()) return;
  implementation_->server.hang_up();
  implementation_->server.stop();
  implementation_->listener.join();
}

void HttpServer::start() {
  ListenAddress& address = implementation_->address;
  LimitedServer& server = implementation_->server;
  const int wanted = address.port;
  errno = 0;
  if (address.port == 0) {
    address.port = server.bind_to_any_port(address.host);
  } else if (!server.bind_to_port(address.host, address.port)) {
    address.port = -1;
  }
  if (address.port <= 0) {
    const int error = errno != 0 ? errno : EADDRINUSE;
    throw system_error("--listen: cannot listen at {}:{}: {}; another port can be chosen", address.host, wanted,
                       errno_text(error));
  }
  server.let_wait(SOMAXCONN);
  implementation_->listener = std::thread([&server] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();  // to be stopped, it has to run
}

std::string HttpServer::url() const {
  const ListenAddress& address = implementation_->address;
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

int HttpServer::port() const noexcept {
  return implementation_->address.port;
}

}  // namespace ringside
