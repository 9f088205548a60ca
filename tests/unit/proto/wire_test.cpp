// SPDX-License-Identifier: BSD-3-Clause
// The golden bytes of every kind of message. Each field keeps its name, number and type permanently
// (proto/ringside.proto), because programs of other versions read journals and telemetry.
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <charconv>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proto/ringside.pb.h"

namespace ringside {
namespace {

namespace proto = google::protobuf;

template <class Kind>
std::unique_ptr<proto::Message> made() {
  return std::make_unique<Kind>();
}

struct Golden {
  std::unique_ptr<proto::Message> (*make)();
  const char* text;
  const char* hex;
};

// The bytes that `protoc --encode` writes.
const std::vector<Golden>& goldens() {
  static const std::vector<Golden> all = {
      {&made<wire::StepPublished>, "epoch: 1 published: 300", "080110ac02"},
      {&made<wire::BufferReleased>, "epoch: 1 released: 299", "080110ab02"},
      {&made<wire::RoundStep>,
       "attachment: 1 step: 299 iteration: -3 node: 2 not_collected: 2 lost_by: 1 ended: true again: true figures { "
       "generate_ns: 1 producer_idle_ns: 2 analyzer_idle_ns: 3 hand_off_ns: 4 transfer_ns: 5 commit_ns: 6 analyze_ns: "
       "7 bytes_transferred: 8 steps_committed: -9 steps_persisted: 10 } fields { variable: 3 entries: 1025 "
       "lacks_change: true number: [0.5, -3] non_finite: 5 exact: [1, 18446744073709551615] }",
       "09010000000000000010ab0218052002280230013801421408011002180320042805300638074008481150144a2d080310810818012210"
       "000000000000e03f00000000000008c0280532100100000000000000ffffffffffffffff5001"},
      {&made<wire::RoundStep>,
       "step: 1 fields { variable: 3 exact_sum { first_word: 16 word: [1, 18446744073709551615] met: 2 } exact_sum { "
       "met: 1 } }",
       "10014a1e08033a16081012100100000000000000ffffffffffffffff18023a021801"},
      {&made<wire::Record>, "seq: 7 run_started { run_id: \"0123456789abcdef\" part { nodes: 2 node: 0 ranks: \"0 to 3\" } }",
       "080722210a1030313233343536373839616263646566da010c080210001a063020746f2033"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 step { run_id: \"0123456789abcdef\" step: 299 iteration: 300 "
       "commit_seq: 1301 published_at_ns: 5000000001 generate_ns: 6 producer_idle_ns: 7 analyzer_idle_ns: 8 "
       "hand_off_ns: 9 transfer_ns: 10 commit_ns: 11 analyze_ns: 12 bytes_transferred: 720000 residual_l1: 0.5 "
       "residual_linf: 0.25 reductions { sum: 1 mean: 0.5 min: -1 max: 2 l1: 3 l2: 2.5 linf: 2 has_change: true "
       "change_l1: 0.25 change_l2: 0.125 change_linf: 0.0625 non_finite: 3 } steps_committed: 300 "
       "steps_persisted: 298 skipped_before: 2 rebuilt: true broke_lease: true record_ns: 24 }",
       "0807108780a8b1e39fe7cb171aba010a103031323334353637383961626364656610ab0218ac0220950a2881e497d01230063807"
       "40084809500a580b600c6880f92b71000000000000e03f79000000000000d03f82015e09000000000000f03f11000000000000e0"
       "3f19000000000000f0bf210000000000000040290000000000000840310000000000000440390000000000000040400149000000"
       "000000d03f51000000000000c03f59000000000000b03f60038801ac029001aa02980102a00101b00101c00118"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 run_started { run_id: \"0123456789abcdef\" problem_id: "
       "\"fedcba9876543210\" rows: 90000 nonzeros: 357600 solver: \"pagerank\" matrix: \"grid:300\" parameters: "
       "\"damping=0.85\" started_unix_ns: 1700000000000000001 from_step: 4 from_iteration: 5 buffers: 3 "
       "coordination: \"locks\" slots: 8 storage: \"file\" durability: \"power\" passes: 2 reduce: \"slot\" "
       "producer_pid: 4242 first_commit_seq: 301 pool_id: \"a-pool-of-itsown\" planned { step_ns: 5000 "
       "low_ns: 4800 high_ns: 5300 producer_idle_ns: 10 analyzer_idle_ns: 900 } }",
       "0807108780a8b1e39fe7cb1722aa010a103031323334353637383961626364656612106665646362613938373635343332313018"
       "90bf0520e0e9152a087061676572616e6b3208677269643a3330303a0c64616d70696e673d302e3835408180a8b1e39fe7cb1748"
       "045005580362056c6f636b736808720466696c657a05706f7765728001028a0104736c6f74900192219801ad02a20110612d706f"
       "6f6c2d6f662d6974736f776eaa010e08882710c02518b429200a288407"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 run_ended { run_id: \"0123456789abcdef\" how: \"detached\" outcome: "
       "\"finished\" steps_committed: 300 steps_persisted: 299 last_iteration: 301 exit_code: 4 text: \"why\" }",
       "0807108780a8b1e39fe7cb172a360a1030313233343536373839616263646566120864657461636865641a0866696e6973686564"
       "20ac0228ab0230ad0238044203776879"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 analyzer_started { version: \"1.0.0\" pid: 4243 rebuilt: 2 }",
       "0807108780a8b1e39fe7cb17320c0a05312e302e301093211802"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 records_missing { run_id: \"0123456789abcdef\" first_step: 20 steps: "
       "30 first_commit_seq: 301 first_iteration: 311 last_iteration: 340 }",
       "0807108780a8b1e39fe7cb173a1f0a10303132333435363738396162636465661014181e20ad0228b70230d402"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 step { run_id: \"0123456789abcdef\" step: 299 results { f64: [0.5, 0.25] "
       "i64: [-3, 4] i128: [1, 18446744073709551615] absent: \"\\x04\" catalogue: 1311768467463790320 } }",
       "0807108780a8b1e39fe7cb171a4c0a103031323334353637383961626364656610ab02aa01340a10000000000000e03f000000000000d0"
       "3f120205081a100100000000000000ffffffffffffffff22010429f0debc9a78563412"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 run_started { run_id: \"0123456789abcdef\" schema { name: \"u\" dtype: "
       "\"f32\" shape: [3, 4] unit: \"K\" role: \"field\" } results { name: \"sum\" type: \"i128\" source: "
       "\"reduction\" classes: 4 unit: \"1\" count: 1 needs_previous: true } payload_bytes: 48 }",
       "0807108780a8b1e39fe7cb1722500a1030313233343536373839616263646566b201160a017512036633321a02030422014b2a056669"
       "656c64ba011f0a0373756d1204693132381a09726564756374696f6e20042a013130013801c00130"},
      {&made<wire::Record>,
       "seq: 7 run_started { run_id: \"0123456789abcdef\" results { name: \"l3\" type: \"f64\" origin: "
       "\"fedcba9876543210\" } plug_ins { name: \"l3\" spec: \"/l3.so:l3\" id: \"fedcba9876543210\" deaths: 1 "
       "left_out: true } }",
       "080722580a1030313233343536373839616263646566ba011b0a026c33120366363442106665646362613938373635343332"
       "3130ca01250a026c3312092f6c332e736f3a6c331a106665646362613938373635343332313020012801"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 run_described { run_id: \"0123456789abcdef\" schema { name: \"u\" dtype: "
       "\"f32\" } results { name: \"sum\" type: \"f64\" } }",
       "0807108780a8b1e39fe7cb1742280a103031323334353637383961626364656612080a017512036633321a0a0a0373756d1203663634"},
      {&made<wire::Record>,
       "seq: 7 mark { run_id: \"0123456789abcdef\" step: 119 iteration: 120 commit_seq: 420 cause: \"trigger\" name: "
       "\"nan\" text: \"non_finite > 0\" action: \"freeze\" action: \"stop\" }",
       "08074a450a10303132333435363738396162636465661077187820a4032a077472696767657232036e616e3a0e6e6f6e5f66696e6974652"
       "03e20304206667265657a65420473746f70"},
      {&made<wire::Record>, "seq: 7 step { run_id: \"0123456789abcdef\" guarded_commit_seq: 419 }",
       "08071a160a1030313233343536373839616263646566b801a303"},
      {&made<wire::Record>, "seq: 7 run_started { run_id: \"0123456789abcdef\" frozen_at_iteration: 120 }",
       "080722150a1030313233343536373839616263646566d00178"},
      {&made<wire::Record>, "seq: 7 run_started { run_id: \"0123456789abcdef\" frozen_at_iteration: 0 }",
       "080722150a1030313233343536373839616263646566d00100"},
      {&made<wire::Record>, "seq: 7 run_ended { run_id: \"0123456789abcdef\" steps_not_kept: 2 }",
       "08072a140a10303132333435363738396162636465664802"},
      {&made<wire::Record>,
       "seq: 7 unix_ns: 1700000000000000007 analysis_results { run_id: \"0123456789abcdef\" step: 299 iteration: 300 "
       "commit_seq: 1301 name: \"analysis.energy\" name: \"analysis.mass\" value: 0.5 value: 0.25 skipped: 3 }",
       "0807108780a8b1e39fe7cb17524f0a103031323334353637383961626364656610ab0218ac0220950a2a0f616e616c797369732e656e65"
       "7267792a0d616e616c797369732e6d6173733210000000000000e03f000000000000d03f3803"},
      {&made<wire::Records>, "record { seq: 5 } record { seq: 6 } numbering { analyzer_id: 300 first_seq: 5 }",
       "0a0208050a020806120508ac021005"},
      {&made<wire::Beat>, "newest_seq: 6 numbering { analyzer_id: 300 first_seq: 5 journal_pool: \"/p\" }",
       "0806120908ac0210051a022f70"},
      {&made<wire::ControlRequest>, "records_from { seq: 1 at_most: 100 }", "0a0408011064"},
      {&made<wire::ControlRequest>, "status { }", "1200"},
      {&made<wire::ControlRequest>, "stop { }", "1a00"},
      {&made<wire::ControlRequest>, "record_analysis { request: 9 results { step: 1 } results { step: 2 } client: 5 }",
       "220c080912021001120210021805"},
      {&made<wire::ControlReply>,
       "records { record { seq: 5 } oldest_seq: 5 newest_seq: 6 numbering { analyzer_id: 300 first_seq: 5 } }",
       "0a0f0a02080510051806220508ac021005"},
      {&made<wire::ControlReply>,
       "status { version: \"1.0.0\" pid: 4243 analyzer_id: 18446744073709551615 pool: \"p\" attached: true run { "
       "run_id: \"0123456789abcdef\" } ended { how: \"stopped\" } last { step: 1 } steps_committed: 9 "
       "steps_persisted: 10 steps_skipped: 11 generate_ns: 12 producer_idle_ns: 13 analyzer_idle_ns: 14 "
       "transfer_ns: 15 commit_ns: 16 analyze_ns: 17 bytes_transferred: 18 hand_off_p50_ns: 19 hand_off_p99_ns: "
       "20 hand_off_max_ns: 21 journal: \"file\" journal_error: \"full\" oldest_seq: 24 newest_seq: 25 "
       "records_missing: 26 record_ns: 29 }",
       "12770a05312e302e3010932118ffffffffffffffffff01220170280132120a10303132333435363738396162636465663a091207"
       "73746f70706564420210014809500a580b600c680d700e780f800110880111900112980113a00114a80115b2010466696c65ba01"
       "0466756c6cc00118c80119d0011ae8011d"},
      {&made<wire::ControlReply>, "status { frozen_at_iteration: 120 guarded_commit_seq: 419 }",
       "1207d80178e001a303"},
      {&made<wire::ControlReply>, "status { frozen_at_iteration: 0 }", "1203d80100"},
      {&made<wire::ControlReply>, "stopping { }", "1a00"},
      {&made<wire::ControlReply>, "refused { why: \"no run\" may_ask_again: true }", "220a0a066e6f2072756e1001"},
      {&made<wire::ControlReply>, "analysis_recorded { request: 9 taken: 1 }", "2a0408091001"},
  };
  return all;
}

std::string bytes_of(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned char byte = 0;
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, byte, 16);
    bytes[i] = static_cast<char>(byte);
  }
  return bytes;
}

std::unique_ptr<proto::Message> parsed_text(const Golden& golden) {
  std::unique_ptr<proto::Message> message = golden.make();
  EXPECT_TRUE(proto::TextFormat::ParseFromString(golden.text, message.get())) << golden.text;
  return message;
}

/// The fields that are set in a message and in those within it.
void collect(const proto::Message& message, std::set<std::string>& names) {
  const proto::Reflection& reflection = *message.GetReflection();
  std::vector<const proto::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const proto::FieldDescriptor* field : fields) {
    names.insert(field->full_name());
    if (field->cpp_type() != proto::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      collect(reflection.GetMessage(message, field), names);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      collect(reflection.GetRepeatedMessage(message, field, i), names);
    }
  }
}

TEST(WireTest, EveryKindOfMessageIsWrittenAsItEverWas) {
  for (const Golden& golden : goldens()) {
    EXPECT_EQ(parsed_text(golden)->SerializeAsString(), bytes_of(golden.hex)) << golden.text;
  }
}

TEST(WireTest, EveryKindOfMessageIsReadAsItEverWas) {
  for (const Golden& golden : goldens()) {
    const std::unique_ptr<proto::Message> read = golden.make();
    ASSERT_TRUE(read->ParseFromString(bytes_of(golden.hex))) << golden.text;
    // A field that was removed or got another number would be an unknown field here.
    EXPECT_TRUE(proto::util::MessageDifferencer::Equals(*read, *parsed_text(golden))) << read->ShortDebugString();
  }
}

TEST(WireTest, EveryFieldThereIsHasItsBytesWrittenDown) {
  std::set<std::string> written;
  for (const Golden& golden : goldens()) collect(*parsed_text(golden), written);
  const proto::FileDescriptor& file = *wire::Record::descriptor()->file();
  for (int kind = 0; kind < file.message_type_count(); ++kind) {
    for (int i = 0; i < file.message_type(kind)->field_count(); ++i) {
      const proto::FieldDescriptor& field = *file.message_type(kind)->field(i);
      EXPECT_EQ(written.count(field.full_name()), 1u) << field.full_name();
    }
  }
}

TEST(WireTest, FieldsOfALaterVersionAreSkipped) {
  const std::string later = bytes_of(
      "c03e07"
      "ca3e03616263");  // 1000: 7, 1001: "abc"
  for (const Golden& golden : goldens()) {
    const std::unique_ptr<proto::Message> read = golden.make();
    ASSERT_TRUE(read->ParseFromString(later + bytes_of(golden.hex))) << golden.text;
    read->DiscardUnknownFields();
    EXPECT_TRUE(proto::util::MessageDifferencer::Equals(*read, *parsed_text(golden))) << golden.text;
  }
}

TEST(WireTest, OnlyTheNumberOfARecordOfAnUnknownKindIsRead) {
  wire::Record record;
  ASSERT_TRUE(
      record.ParseFromString(bytes_of("0807"
                                      "720408011002")));  // seq: 7, 14: {1: 1, 2: 2}
  EXPECT_EQ(record.seq(), 7u);
  EXPECT_EQ(record.what_case(), wire::Record::WHAT_NOT_SET);
}

}  // namespace
}  // namespace ringside
