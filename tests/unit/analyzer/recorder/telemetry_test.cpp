// SPDX-License-Identifier: BSD-3-Clause
// Hostile clients on both sockets, and which clients may connect over tcp. The service must continue to serve known
// clients.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>

#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/telemetry/key_folder.hpp"
#include "tests/unit/analyzer/recorder/recorder_fixture.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/free_ports.hpp"
#include "tests/unit/lowered_limit.hpp"

namespace ringside {
namespace {

using testing::RecorderTest;

class TelemetryTest : public RecorderTest {
 protected:
  void expect_still_serving() {
    RecordStream friendly(context_, address(), 0);
    EXPECT_TRUE(friendly.status(20000));
  }

  static std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
  }

  /// Options with the keys in folder_/keys, which admit the client `friend`.
  RecorderOptions on_tcp() {
    make_server_keys(keys_);
    make_client_keys(keys_, "friend");
    RecorderOptions chosen = options();
    tcp_ = "127.0.0.1:" + std::to_string(testing::free_ports());
    chosen.telemetry.tcp = tcp_;
    chosen.telemetry.keys = keys_;
    return chosen;
  }

  void expect_refused(const RecorderOptions& chosen, const std::string& fragment) {
    ringside::expect_refused([&] { const Recorder recorder(chosen, stop_run_); }, fragment);
  }

  std::string keys_ = folder_.file("keys");
  std::string tcp_;
};

TEST_F(TelemetryTest, RequestsThatDoNotParseAreDropped) {
  const Recorder recorder(options(), stop_run_);
  Channel hostile(context_, ChannelKind::kDealer);
  hostile.connect(address().control);
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::string noise(random() % 4000, '\0');
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(random()); });
    hostile.send(noise);
    const std::array<std::string_view, 4> frames = {"", noise, "", "more"};
    hostile.send(frames);
  }
  expect_still_serving();
}

TEST_F(TelemetryTest, ARequestThatIsTooLargeLosesItsConnection) {
  const Recorder recorder(options(), stop_run_);
  Channel hostile(context_, ChannelKind::kDealer);
  hostile.connect(address().control);
  hostile.send(std::string(1 << 20, 'x'));
  Channel listener(context_, ChannelKind::kDealer);
  listener.connect(address().publisher);  // the wrong kind of socket
  listener.send(std::string(1 << 20, 'x'));
  expect_still_serving();
}

TEST_F(TelemetryTest, BytesThatAreNoZeroMqAndSilenceAreBothSurvived) {
  const Recorder recorder(options(), stop_run_);
  std::vector<UniqueFd> held;
  for (const char* name : {"s.control", "s.telemetry"}) {
    for (int i = 0; i < 50; ++i) {
      UniqueFd& fd = held.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      sockaddr_un to{};
      to.sun_family = AF_UNIX;
      const std::string path = folder_.file(name);
      std::copy(path.begin(), path.end(), to.sun_path);
      connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
      if (i % 2 == 0) send(fd.get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
    }
  }
  expect_still_serving();
}

TEST_F(TelemetryTest, AFloodOfRequestsDelaysOthersAndStopsNobody) {
  Recorder recorder(options(), stop_run_);
  begin(recorder);
  push(recorder, 0, 5000);
  Channel hostile(context_, ChannelKind::kDealer);  // requests everything and never reads
  hostile.connect(address().control);
  wire::ControlRequest everything;
  everything.mutable_records_from();
  for (int i = 0; i < 4000; ++i) hostile.send(everything.SerializeAsString());
  push(recorder, 5000, 6000);
  RecordStream friendly(context_, address(), 0);
  expect_consecutive(take(friendly, 6002), 1);
  end(recorder);
}

TEST_F(TelemetryTest, ASubscriberThatNeverReadsHoldsNobodyUp) {
  Recorder recorder(options(), stop_run_);
  Channel deaf(context_, ChannelKind::kSubscriber, {.high_water_mark = 1, .name = {}, .curve = {}});
  deaf.connect(address().publisher);
  begin(recorder);
  for (std::uint64_t i = 0; i < 20; ++i) {
    push(recorder, i * 1000, (i + 1) * 1000);
    end(recorder);
    begin(recorder);
  }
  end(recorder);
  expect_still_serving();
}

TEST_F(TelemetryTest, OverTcpAKnownClientFollows) {
  Recorder recorder(on_tcp(), stop_run_);
  RecordStream stream(context_, telemetry_at_tcp(tcp_, "--tcp", read_client_keys(keys_ + "/friend")), 0);
  begin(recorder);
  push(recorder, 0, 100);
  expect_consecutive(take(stream, 102), 1);
  EXPECT_TRUE(stream.status(10000));
}

TEST_F(TelemetryTest, AnUnknownKeyAndNoKeyAndAWrongServersKeyAreKeptOut) {
  Recorder recorder(on_tcp(), stop_run_);
  begin(recorder);
  push(recorder, 0, 100);
  const CurveKeys known = read_client_keys(keys_ + "/friend");
  const CurveKeys unknown{make_key_pair(), known.server_key};
  const CurveKeys elsewhere{known.own, make_key_pair().public_key};
  TelemetryAddress plain = telemetry_at_tcp(tcp_, "--tcp", known);
  plain.curve.reset();
  RecordStream stranger(context_, telemetry_at_tcp(tcp_, "--tcp", unknown), 0);
  RecordStream misled(context_, telemetry_at_tcp(tcp_, "--tcp", elsewhere), 0);
  RecordStream keyless(context_, plain, 0);
  RecordStream friendly(context_, telemetry_at_tcp(tcp_, "--tcp", known), 0);
  expect_consecutive(take(friendly, 102), 1);
  // Now each of them has had at least as much time as the friend needed.
  for (RecordStream* stream : {&stranger, &misled, &keyless}) EXPECT_FALSE(stream->status(500));
}

TEST_F(TelemetryTest, AThousandStrangersOnTcpTakeABoundedNumberOfDescriptorsAndKeepNoFriendOut) {
  Recorder recorder(on_tcp(), stop_run_);
  const TelemetryAddress friends = telemetry_at_tcp(tcp_, "--tcp", read_client_keys(keys_ + "/friend"));
  RecordStream early(context_, friends, 0);
  begin(recorder);
  push(recorder, 0, 100);
  expect_consecutive(take(early, 102), 1);
  const std::size_t before = open_descriptors();

  const auto port = static_cast<std::uint16_t>(std::stoi(tcp_.substr(tcp_.rfind(':') + 1)));
  testing::ChildProcess strangers([port] {  // in a separate process, which has its own descriptors
    const rlimit many{2048, 2048};
    setrlimit(RLIMIT_NOFILE, &many);
    for (int i = 0; i < 1000; ++i) {
      const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (!testing::connect_to(fd, port + i % 2)) return false;
      if (i % 3 == 0) send(fd, "\xff\0\0\0\0\0\0\0\1\x7f", 10, MSG_NOSIGNAL);  // begins a handshake
    }
    return true;
  });
  ASSERT_TRUE(strangers.worked()) << "they could not connect";
  push(recorder, 100, 200);
  std::vector<wire::Record> more = take(early, 100);  // the early stream's connection was not closed
  expect_consecutive(more, 103);
  RecordStream late(context_, friends, 0);
  expect_consecutive(take(late, 202), 1);
  EXPECT_LE(open_descriptors(), before + 3 * 64 + 32);
}

TEST_F(TelemetryTest, AClientTakenOffTheListIsKeptOutFromItsNextConnectionOn) {
  Recorder recorder(on_tcp(), stop_run_);
  const TelemetryAddress friends = telemetry_at_tcp(tcp_, "--tcp", read_client_keys(keys_ + "/friend"));
  EXPECT_TRUE(RecordStream(context_, friends, RecordStream::kNoRecords).status(10000));
  make_client_keys(keys_, "newcomer");
  const TelemetryAddress newcomers = telemetry_at_tcp(tcp_, "--tcp", read_client_keys(keys_ + "/newcomer"));
  EXPECT_TRUE(RecordStream(context_, newcomers, RecordStream::kNoRecords).status(10000)) << "without a restart";
  std::filesystem::remove(keys_ + "/clients.allowed");
  EXPECT_FALSE(RecordStream(context_, friends, RecordStream::kNoRecords).status(500)) << "no list: nobody";
}

TEST_F(TelemetryTest, WithoutKeysOrAListItDoesNotStart) {
  RecorderOptions chosen = on_tcp();
  chosen.telemetry.keys = "";
  expect_refused(chosen, "--telemetry-keys");
  chosen.telemetry.keys = folder_.file("nowhere");
  expect_refused(chosen, "server.secret");
  chosen.telemetry.keys = keys_;
  chosen.telemetry.tcp = "127.0.0.1";
  expect_refused(chosen, "HOST:PORT");
  chosen.telemetry.tcp = tcp_;

  chmod((keys_ + "/server.secret").c_str(), 0640);
  expect_refused(chosen, "permissions");
  chmod((keys_ + "/server.secret").c_str(), 0600);
  std::ofstream(keys_ + "/clients.allowed") << "# nobody\n";
  expect_refused(chosen, "no admitted client");
  std::ofstream(keys_ + "/clients.allowed") << "somebody\n";
  expect_refused(chosen, "line 1");
  std::filesystem::remove(keys_ + "/clients.allowed");
  expect_refused(chosen, "clients.allowed");
  make_server_keys(folder_.file("empty"));
  chosen.telemetry.keys = folder_.file("empty");
  expect_refused(chosen, "no admitted client");
}

TEST_F(TelemetryTest, OnTcpTheLimitOfDescriptorsIsRaisedBeyondWhatStrangersMayTake) {
  const testing::LoweredLimit few(RLIMIT_NOFILE, 256);
  const Recorder recorder(on_tcp(), stop_run_);
  rlimit found{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &found), 0);
  EXPECT_EQ(found.rlim_cur, std::min<rlim_t>(16384, found.rlim_max));
}

TEST_F(TelemetryTest, KeysInAFolderThatOthersMayWriteAreRefused) {
  const RecorderOptions chosen = on_tcp();
  chmod(keys_.c_str(), 0777);
  expect_refused(chosen, "permissions 777");
  EXPECT_THROW(make_client_keys(keys_, "another"), Error);
  chmod(keys_.c_str(), 0755);
  EXPECT_NO_THROW(read_server_keys(keys_));
}

TEST_F(TelemetryTest, ALinkOrAPipeInTheKeysPlaceIsRefusedAtOnce) {
  const RecorderOptions chosen = on_tcp();
  const std::string list = keys_ + "/clients.allowed";
  std::filesystem::rename(list, keys_ + "/elsewhere");
  std::filesystem::create_symlink(keys_ + "/elsewhere", list);
  expect_refused(chosen, "clients.allowed");
  std::filesystem::remove(list);
  ASSERT_EQ(mkfifo(list.c_str(), 0600), 0);
  expect_refused(chosen, "found no file");
}

TEST_F(TelemetryTest, AClientIsPutOnALineOfItsOwn) {
  make_server_keys(keys_);
  make_client_keys(keys_, "friend");
  const std::string list = keys_ + "/clients.allowed";
  std::filesystem::resize_file(list, std::filesystem::file_size(list) - 1);  // an editor may leave out the last newline
  make_client_keys(keys_, "another");
  EXPECT_EQ(read_allowed_clients(keys_).size(), 2u);
}

TEST_F(TelemetryTest, KeysAreNeverOverwrittenAndSecretsAreTheOwners) {
  make_server_keys(keys_);
  EXPECT_THROW(make_server_keys(keys_), Error);
  make_client_keys(keys_, "friend");
  EXPECT_THROW(make_client_keys(keys_, "friend"), Error);
  EXPECT_THROW(make_client_keys(keys_, "../friend"), Error);
  EXPECT_THROW(make_client_keys(folder_.file("nowhere"), "friend"), Error);
  EXPECT_EQ(read_allowed_clients(keys_).size(), 1u);
  for (const char* name : {"/server.secret", "/friend/client.secret"}) {
    EXPECT_EQ(testing::mode_of(keys_ + name), 0600u) << name;
  }
}

}  // namespace
}  // namespace ringside
