// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/collection.hpp"

#include <algorithm>
#include <cmath>

namespace ringside {
namespace {

// These sizes are those of analyzer/whole_run.
constexpr double kBlockBytes = 1024 * 8;        // a block of a field of doubles
constexpr double kPartBytes = 4 * 8192 + 2400;  // of a step's parts: room for incomplete blocks, and the values
constexpr double kBlockPartBytes = 64;          // in addition, for each block
constexpr double kStoreBytes = 64 << 20;
constexpr double kFewest = 4;
constexpr double kMost = 256;
constexpr double kAgainS = 0.5;  // if no round returns for this time, the oldest one is restarted

double part_bytes(double step_bytes) noexcept {
  return kPartBytes + kBlockPartBytes * std::floor(step_bytes / kBlockBytes);
}

}  // namespace

std::uint64_t store_steps(double step_bytes) noexcept {
  return static_cast<std::uint64_t>(std::clamp(kStoreBytes / part_bytes(step_bytes), kFewest, kMost));
}

double store_bytes(double step_bytes) noexcept {
  return static_cast<double>(store_steps(step_bytes)) * part_bytes(step_bytes);
}

Collected::Collected(const ScaleRequest& request, std::uint64_t steps, EventQueue& events)
    : request_(request),
      events_(events),
      turn_s_(request.collection.turn_s + request.collection.block_s * request.node.step_bytes / kBlockBytes),
      nodes_(request.nodes),
      begun_s_(steps),
      told_(steps),
      result_s_(steps) {}

void Collected::reduced(double now_s, std::uint32_t node) {
  NodeState& own = nodes_[node];
  ++own.reduced;
  if (request_.nodes == 1) {  // a single node makes no round
    result_s_[collected_++] = now_s;
    return;
  }
  // A restarted collector may request collected steps again, so the other nodes keep their parts of these steps a
  // little longer.
  const std::uint64_t kept = node == 0 ? 0 : store_steps(request_.node.step_bytes) / 4;
  held_steps_ = std::max(held_steps_, own.reduced - own.freed + kept);
  pass(now_s, node);
}

void Collected::state_arrives(double now_s, std::uint32_t node) {
  ++nodes_[node].arrived;
  pass(now_s, node);
}

/// Lets the node process the states that have arrived.
void Collected::pass(double now_s, std::uint32_t node) {
  NodeState& own = nodes_[node];
  while (own.passed < own.reduced && (node == 0 || own.passed < own.arrived)) {
    const std::uint64_t step = own.passed++;
    if (node == 0) {
      begun_s_[step] = now_s;
      told_[step] = collected_;
      busy_s_ += turn_s_;
    }
    own.freed = std::max(own.freed, told_[step]);
    own.free_s = std::max(now_s, own.free_s) + turn_s_;
    const double at_s = own.free_s + request_.network.message_s(request_.collection.state_bytes);
    if (node + 1 == request_.nodes) {
      events_.add(at_s, EventKind::kStateReturns, node);
    } else {
      events_.add(at_s, EventKind::kStateArrives, node + 1);
    }
  }
}

/// For a restarted round, only its bytes are counted, not its time, because a node's turn takes far less time than a
/// step.
void Collected::state_returns(double now_s) {
  const std::uint64_t step = collected_++;
  NodeState& own = nodes_[0];
  own.freed = collected_;
  own.free_s = std::max(now_s, own.free_s) + request_.collection.record_s;
  busy_s_ += request_.collection.record_s;
  result_s_[step] = own.free_s;
  round_s_ += own.free_s - begun_s_[step];
  const double oldest_s = step > 0 ? result_s_[step - 1] : 0;
  begun_again_ += static_cast<std::uint64_t>((own.free_s - std::max(oldest_s, begun_s_[step])) / kAgainS);
}

double Collected::bytes_sent() const {
  if (request_.nodes == 1) return 0;
  return static_cast<double>((collected_ + begun_again_) * request_.nodes) * request_.collection.state_bytes;
}

}  // namespace ringside
