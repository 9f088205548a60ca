// SPDX-License-Identifier: BSD-3-Clause
// The HTTP server gets requests like those of browsers and attackers, as bytes on a socket.
#include "cli/http/http_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "cli/http/run_site.hpp"
#include "common/json/json.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/free_ports.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tests/watch/made_run.hpp"

namespace ringside {
namespace {

using testing::MadeRun;

constexpr const char* kToken = "0123456789abcdefghij";

struct Answer {
  int status = 0;  // 0: the connection was closed without an answer
  std::string head;
  std::string body;
};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    watched_.analyzer_is(true);
    watched_.take(std::vector{made_.started()});
    watched_.take(made_.steps(30));
    start();
  }

  void start(std::optional<AccessToken> token = std::nullopt, const ConnectionLimits& limits = {}) {
    server_.emplace(std::make_shared<RunSite>(watched_), ListenAddress{"127.0.0.1", 0}, std::move(token), limits);
    server_->start();
  }
  void start_behind(const std::string& host) {
    server_.emplace(std::make_shared<RunSite>(watched_), ListenAddress{"127.0.0.1", 0, {host}}, std::nullopt);
    server_->start();
  }

  UniqueFd connect() const { return testing::connected(server_->port()); }

  /// Sends these bytes, and returns what is received until the connection ends.
  Answer send_raw(const std::string& bytes) const {
    const UniqueFd fd = connect();
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t now = send(fd.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) break;  // the server accepts no more bytes
      sent += static_cast<std::size_t>(now);
    }
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
      all.append(buffer, static_cast<std::size_t>(got));
    }
    Answer answer;
    const std::size_t end = all.find("\r\n\r\n");
    if (end == std::string::npos) return answer;
    answer.status = std::stoi(all.substr(9, 3));
    answer.head = all.substr(0, end);
    answer.body = all.substr(end + 4);
    return answer;
  }

  Answer get(const std::string& target, const std::string& headers = "Host: localhost\r\n") const {
    return send_raw("GET " + target + " HTTP/1.1\r\n" + headers + "\r\n");
  }

  WatchedRun watched_;
  MadeRun made_;
  std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, StatusTellsTheRunAsItsRecordsDo) {
  const Answer answer = get("/api/status");
  EXPECT_EQ(answer.status, 200);
  const Json status = Json::parse(answer.body);
  EXPECT_EQ(status["run"]["matrix"], "grid:300");
  EXPECT_EQ(status["last"]["iteration"], 30);
  EXPECT_EQ(status["totals"]["steps_committed"], 30);
  EXPECT_EQ(status["analyzer"]["up"], true);
}

TEST_F(HttpServerTest, AnImageIsAskedForByNameAloneAndThereIsNoneWithoutAPool) {
  EXPECT_EQ(Json::parse(get("/api/image?variable=x&cell=mean&large=1&known=7").body)["image"], nullptr);
  for (const std::string& query : {std::string("cell=median"), std::string("large=yes"), std::string("known=x"),
                                   "variable=" + std::string(64, 'x')}) {
    EXPECT_EQ(get("/api/image?" + query).status, 400) << query;
  }
}

TEST_F(HttpServerTest, StepsComeFromTheNumberAskedForInPortions) {
  Json steps = Json::parse(get("/api/steps?from=0&limit=20").body);
  ASSERT_EQ(steps["steps"].size(), 20u);
  EXPECT_EQ(steps["more"], true);
  const auto next = steps["steps"].back()["seq"].get<std::uint64_t>() + 1;
  steps = Json::parse(get("/api/steps?from=" + std::to_string(next)).body);
  ASSERT_EQ(steps["steps"].size(), 10u);
  EXPECT_EQ(steps["more"], false);
  EXPECT_EQ(steps["steps"].back()["iteration"], 30);
}

TEST_F(HttpServerTest, AQueryThatIsNoNumberIsRefused) {
  for (const char* query : {"from=x", "from=-1", "from=1e3", "from=", "from=99999999999999999999999", "limit=0",
                            "limit=2001", "from=%00", "limit=10;drop"}) {
    EXPECT_EQ(get(std::string("/api/steps?") + query).status, 400) << query;
  }
}

TEST_F(HttpServerTest, MetricsHaveTheirContentType) {
  const Answer answer = get("/metrics");
  EXPECT_EQ(answer.status, 200);
  expect_has(answer.head, {"Content-Type: text/plain; version=0.0.4"});
  expect_has(answer.body, {"# TYPE ringside_hand_off_seconds histogram"});
}

TEST_F(HttpServerTest, ThePageIsWholeAndLoadsOnlyWhatIsServedHere) {
  const Answer page = get("/");
  EXPECT_EQ(page.status, 200);
  expect_lacks(page.body, {"://"});
  for (const char* attribute : {"src=\"", "rel=\"stylesheet\" href=\""}) {
    const std::size_t length = std::string_view(attribute).size();
    for (std::size_t at = page.body.find(attribute); at != std::string::npos; at = page.body.find(attribute, at + 1)) {
      const std::string name = page.body.substr(at + length, page.body.find('"', at + length) - at - length);
      EXPECT_EQ(get("/" + name).status, 200) << name;
    }
  }
}

TEST_F(HttpServerTest, EveryAnswerHasTheHeadersThatLockThePageIn) {
  for (const char* target : {"/", "/app.js", "/metrics", "/nothing", "/api/steps?from=x"}) {
    const std::string head = get(target).head;
    SCOPED_TRACE(target);
    expect_has(head, {"Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff",
                      "Referrer-Policy: no-referrer"});
    expect_lacks(head, {"Access-Control", "unsafe"});
  }
}

TEST_F(HttpServerTest, NoPathLeadsOutOfTheAssets) {
  for (const char* path : {"/../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                           "/app.js/../../etc/passwd", "/app.js%00.html", "/index.html/", "\\..\\etc"}) {
    const Answer answer = get(path);
    EXPECT_TRUE(answer.status == 404 || answer.status == 400 || answer.status == 0) << path << " " << answer.status;
    EXPECT_EQ(answer.body.find("root:"), std::string::npos) << path;
  }
}

TEST_F(HttpServerTest, OnlyReadingIsAllowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const Answer answer = send_raw(std::string(method) + " /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(answer.status == 405 || answer.status == 400) << method << " " << answer.status;
  }
  EXPECT_EQ(send_raw("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n").body, "");
}

TEST_F(HttpServerTest, ANameThatWasMadeToResolveHereIsRefused) {
  for (const char* host : {"evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "",
                           "[::1].evil", "localhost@evil.example", "localhost:80@evil.example", "127.0.0.1:x"}) {
    const Answer answer = get("/api/status", "Host: " + std::string(host) + "\r\n");
    EXPECT_EQ(answer.status, 421) << host;
    expect_lacks(answer.body, {"grid:300"});
  }
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:9464", "[::1]:9464", "LocalHost"}) {
    EXPECT_EQ(get("/api/status", "Host: " + std::string(host) + "\r\n").status, 200) << host;
  }
  EXPECT_EQ(send_raw("GET /api/status HTTP/1.0\r\n\r\n").status, 421);
}

TEST_F(HttpServerTest, AProxysNameIsAcceptedOnceItIsAllowed) {
  start_behind(allowed_host("Monitor.example.org", "--allow-host"));
  for (const char* host : {"monitor.example.org", "MONITOR.example.org:443", "localhost"}) {
    EXPECT_EQ(get("/api/status", "Host: " + std::string(host) + "\r\n").status, 200) << host;
  }
  for (const char* host : {"evil.example.org", "monitor.example.org.evil", "x.monitor.example.org"}) {
    const Answer answer = get("/api/status", "Host: " + std::string(host) + "\r\n");
    EXPECT_EQ(answer.status, 421) << host;
    expect_has(answer.body, {"--allow-host NAME"});
  }
}

TEST_F(HttpServerTest, AnAllowedHostIsANameWithoutSchemePortAndPath) {
  EXPECT_EQ(allowed_host("Monitor.Example.org", "--allow-host"), "monitor.example.org");
  EXPECT_EQ(allowed_host("[2001:DB8::1]", "--allow-host"), "[2001:db8::1]");
  for (const char* text :
       {"", "*", "https://monitor.example.org", "monitor.example.org:443", "a/b", "[]", "::1", "a b"}) {
    EXPECT_THROW(allowed_host(text, "--allow-host"), Error) << text;
  }
}

TEST_F(HttpServerTest, WhatABrowserAsksForAPageOfAnotherOriginIsRefused) {
  start_behind("monitor.example.org");
  const std::string local = "Host: localhost:9464\r\n";
  for (const char* headers :
       {"Origin: https://evil.example\r\n", "Origin: null\r\n", "Origin: http://localhost:8080\r\n",
        "Origin: https://monitor.example.org.evil\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"}) {
    for (const char* target : {"/", "/metrics", "/api/status", "/app.js"}) {
      const Answer answer = get(target, local + headers);
      EXPECT_EQ(answer.status, 403) << target << " " << headers;
      expect_lacks(answer.body, {"grid:300"});
    }
  }
  for (const char* headers :
       {"", "Origin: http://localhost:9464\r\n", "Origin: https://Monitor.example.org\r\n", "Sec-Fetch-Site: none\r\n",
        "Sec-Fetch-Site: same-origin\r\nOrigin: https://monitor.example.org\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"}) {
    EXPECT_EQ(get("/api/status", local + headers).status, 200) << headers;
  }
}

TEST_F(HttpServerTest, NothingInThePagesAsksAtTheRootOfTheHost) {
  for (const std::string page : {"/", "/app.js", "/server.js", "/live_field.js", "/result_charts.js", "/style.css",
                                  "/runs.html", "/runs.js", "/report.html", "/report.js"}) {
    const Answer answer = get(page);
    ASSERT_EQ(answer.status, 200) << page;
    for (const char* rooted : {"\"/", "'/", "`/", "(/"}) {
      EXPECT_EQ(answer.body.find(rooted), std::string::npos)
          << page << ": " << answer.body.substr(answer.body.find(rooted), 40);
    }
  }
}

TEST_F(HttpServerTest, ARequestThatOthersMayReadInAnotherWayIsRefusedWithAReason) {
  for (const char* headers : {"Host: localhost\r\nHost: evil.example\r\n", "Host: localhost\r\nHost: localhost\r\n", "",
                              "Host: localhost\r\nX: a\r\n b\r\n", "Host: localhost\r\nTransfer-Encoding: chunked\r\n",
                              "Host: localhost\r\nContent-Length: 0\r\nContent-Length: 1\r\n"}) {
    const Answer answer = get("/api/status", headers);
    EXPECT_EQ(answer.status, 400) << headers;
    expect_has(answer.body, {"expected"});
    expect_has(answer.head, {"Content-Security-Policy: default-src 'none'"});
    expect_lacks(answer.body, {"grid:300"});
  }
}

TEST_F(HttpServerTest, WithoutTheTokenNothingIsTold) {
  start(AccessToken(kToken));
  const std::string token = kToken;
  for (const std::string& header :
       std::vector<std::string>{"", "Authorization: Bearer \r\n", "Authorization: Bearer " + token.substr(1) + "\r\n",
                                "Authorization: Bearer " + token + "x\r\n", "Authorization: Basic " + token + "\r\n",
                                "Cookie: ringside_session=" + token + "\r\n", "Cookie: ringside_session=\r\n",
                                "Cookie: ;;=;ringside_session\r\n"}) {
    for (const char* target : {"/", "/metrics", "/api/status", "/api/steps", "/app.js", "/?token=wrong"}) {
      const Answer answer = get(target, "Host: localhost\r\n" + header);
      EXPECT_EQ(answer.status, 401) << target << " " << header;
      expect_lacks(answer.body, {"grid:300"});
    }
  }
}

TEST_F(HttpServerTest, TheTokenLetsInByHeaderAndByCookie) {
  start(AccessToken(kToken));
  EXPECT_EQ(get("/metrics", std::string("Host: x\r\nAuthorization: Bearer ") + kToken + "\r\n").status, 421);
  EXPECT_EQ(get("/metrics", std::string("Host: localhost\r\nAuthorization: Bearer ") + kToken + "\r\n").status, 200);
  const Answer first = get(std::string("/?token=") + kToken);
  EXPECT_EQ(first.status, 303);
  expect_has(first.head, {"Location: ./\r\n"});
  EXPECT_EQ(first.head.find("Path="), std::string::npos) << "below a proxy's path, for that path alone";
  const Answer deeper = get(std::string("/api/status?token=") + kToken);
  expect_has(deeper.head, {"Location: ../\r\n", "; Path=/; "});
  expect_has(first.head, {"HttpOnly; SameSite=Strict"});
  EXPECT_EQ(first.head.find(kToken), std::string::npos) << "the cookie is not the token";
  const std::size_t begin = first.head.find("ringside_session=");
  const std::string cookie = first.head.substr(begin, first.head.find(';', begin) - begin);
  EXPECT_EQ(get("/api/status", "Host: localhost\r\nCookie: other=1; " + cookie + "\r\n").status, 200);
}

TEST_F(HttpServerTest, HeadersWithoutEndAreCutOff) {
  EXPECT_NE(get("/" + std::string(100'000, 'a')).status, 200);
  EXPECT_NE(get("/", "Host: localhost\r\nX: " + std::string(1'000'000, 'a') + "\r\n").status, 200);
  std::string many = "Host: localhost\r\n";
  for (int i = 0; i < 100'000; ++i) many += "X: y\r\n";
  EXPECT_NE(get("/", many).status, 200);
  EXPECT_NE(send_raw(std::string(1'000'000, 'x')).status, 200);
  EXPECT_EQ(get("/api/status").status, 200);
}

TEST_F(HttpServerTest, HeadersThatAreExpensiveToReadAreHarmless) {
  const std::string ranges = "Range: bytes=" + std::string(7000, '1') + "-\r\n";
  std::string many = "Range: bytes=0-1";
  for (int i = 0; i < 1500; ++i) many += ",0-1";
  get("/", "Host: localhost\r\n" + ranges);
  get("/app.js", "Host: localhost\r\n" + many + "\r\n");
  get("/api/steps?" + std::string(7000, '&'));
  EXPECT_EQ(get("/api/status").status, 200);
}

TEST_F(HttpServerTest, PartsOfAnAnswerAreNotMadeHoweverManyAreAskedFor) {
  const std::string whole = get("/chart.min.js").body;
  std::string many = "Range: bytes=0-";
  for (int i = 0; i < 1000; ++i) many += ",0-";
  for (const std::string& ranges : {std::string("Range: bytes=0-1"), many}) {
    const Answer answer = get("/chart.min.js", "Host: localhost\r\n" + ranges + "\r\n");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body.size(), whole.size());
  }
}

TEST_F(HttpServerTest, BytesThatAreNoRequestAreHarmless) {
  for (const std::string& bytes :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01", 6) + "\r\n\r\n",
        std::string(100, '\0') + "\r\n\r\n", std::string("GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost localhost\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")}) {
    EXPECT_NE(send_raw(bytes).status, 200) << bytes;
  }
  EXPECT_EQ(get("/api/status").status, 200);
}

TEST_F(HttpServerTest, AClientThatNeverFinishesItsRequestIsHungUpOn) {
  start(std::nullopt, {.request_time = std::chrono::milliseconds(50)});
  const UniqueFd slow = connect();
  ASSERT_EQ(send(slow.get(), "GET / HT", 8, MSG_NOSIGNAL), 8);
  char buffer[4096];
  while (recv(slow.get(), buffer, sizeof buffer, 0) > 0) {
  }
}

TEST_F(HttpServerTest, AClientThatSaysNothingIsHungUpOnSooner) {
  start(std::nullopt, {.first_byte_time = std::chrono::milliseconds(50), .request_time = std::chrono::hours(1)});
  const UniqueFd silent = connect();
  char byte = 0;
  EXPECT_EQ(recv(silent.get(), &byte, 1, 0), 0);
}

TEST_F(HttpServerTest, ItEndsWhileClientsAreConnected) {
  // If the server waited for these limits before it ends, the test would time out.
  constexpr std::chrono::hours limit(1);
  start(std::nullopt, {.first_byte_time = limit, .request_time = limit, .response_time = limit});
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(connect());
  server_.reset();
}

TEST_F(HttpServerTest, TheAddressThatIsListenedAtIsANameOfOurs) {
  HttpServer other(std::make_shared<RunSite>(watched_), {"127.0.0.2", 0}, std::nullopt);
  other.start();
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(testing::connect_to(fd.get(), other.port(), INADDR_LOOPBACK + 1));
  const std::string request =
      "GET /api/status HTTP/1.1\r\nHost: 127.0.0.2:" + std::to_string(other.port()) + "\r\n\r\n";
  ASSERT_EQ(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  char status[13] = {};
  ASSERT_EQ(recv(fd.get(), status, 12, MSG_WAITALL), 12);
  EXPECT_STREQ(status, "HTTP/1.1 200");
  EXPECT_EQ(get("/api/status", "Host: 127.0.0.2\r\n").status, 421) << "it is not listened at there";
}

TEST_F(HttpServerTest, APortThatIsTakenIsSaid) {
  HttpServer second(std::make_shared<RunSite>(watched_), {"127.0.0.1", server_->port()}, std::nullopt);
  expect_has(failure_line([&] { second.start(); }, ExitCode::kSystem),
             {"--listen: cannot listen at 127.0.0.1:" + std::to_string(server_->port())});
}

TEST_F(HttpServerTest, BeyondLoopbackATokenIsDemandedAtTheStart) {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "128.0.0.1"}) {
    EXPECT_THROW(HttpServer(std::make_shared<RunSite>(watched_), {host, 0}, std::nullopt), Error) << host;
  }
  EXPECT_NO_THROW(HttpServer(std::make_shared<RunSite>(watched_), {"0.0.0.0", 0}, AccessToken(kToken)));
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1", "localhost"}) {
    EXPECT_NO_THROW(HttpServer(std::make_shared<RunSite>(watched_), {host, 0}, std::nullopt)) << host;
  }
}

TEST(ListenAddressTest, OnlyNumericAddressesWithAPortAreTaken) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:9464").port, 9464);
  EXPECT_EQ(parse_listen_address("[::1]:80").host, "::1");
  for (const char* text : {"", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:80",
                           "example.org:80", "[127.0.0.1]:80", "127.0.0.1:-1", "127.1:80"}) {
    EXPECT_THROW(parse_listen_address(text), Error) << text;
  }
}

TEST(AccessTokenTest, IsReadFromAFileThatIsItsOwnersAlone) {
  ringside::testing::TemporaryFolder folder;
  const std::string file = folder.write("token", std::string(kToken) + "\n");
  chmod(file.c_str(), 0644);
  EXPECT_THROW(AccessToken::read(file), Error);
  chmod(file.c_str(), 0600);
  const AccessToken token = AccessToken::read(file);
  EXPECT_TRUE(token.matches(kToken));
  EXPECT_FALSE(token.matches(""));
  EXPECT_FALSE(token.matches(std::string(kToken) + kToken));
  EXPECT_FALSE(token.matches("0123456789abcdefghiX"));
  EXPECT_FALSE(token.matches_session(kToken));
  for (const std::string& content : {std::string(), std::string("short"), std::string(kToken) + "\nmore\n",
                                     std::string(kToken) + " ", std::string(600, 'a'), std::string(20, '\0')}) {
    const std::string bad = folder.write("bad", content);
    chmod(bad.c_str(), 0600);
    EXPECT_THROW(AccessToken::read(bad), Error) << content;
  }
  EXPECT_NE(failure_line([&] { AccessToken::read(folder.file("none")); }), "");
  EXPECT_THROW(AccessToken::read("/dev/zero"), Error);
}

TEST_F(HttpServerTest, OneKindOfImageTooManyIsRefusedAndToldWhenToComeAgain) {
  FieldImages images(std::chrono::hours(1));
  server_.emplace(std::make_shared<RunSite>(watched_, &images), ListenAddress{"127.0.0.1", 0}, std::nullopt);
  server_->start();
  for (std::size_t i = 0; i < FieldImages::kMostQueries; ++i) {
    const Answer answer = get(fmt::format("/api/image?variable=u{}", i));
    EXPECT_EQ(answer.status, 200);
    expect_lacks(answer.head, {"Retry-After"});
  }
  const Answer refused = get("/api/image?variable=u99");
  EXPECT_EQ(refused.status, 503);
  expect_has(refused.head, {"\r\nRetry-After: 3\r\n"});
  EXPECT_EQ(refused.body,
            "the server is making images of 16 other kinds (variable, cell, large), and can make no more at once; "
            "try again later\n");
  EXPECT_EQ(get("/api/image?variable=u0").status, 200) << "who was there is still served";
  server_.reset();
}

}  // namespace
}  // namespace ringside
