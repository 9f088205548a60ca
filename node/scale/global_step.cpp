// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/global_step.hpp"

#include <algorithm>
#include <bit>

namespace ringside {

void GlobalStep::Numbers::take(const Numbers& other) {
  committed = std::min(committed, other.committed);
  if (other.waited_s > waited_s) {
    waited_s = other.waited_s;
    waited_node = other.waited_node;
  }
}

GlobalStep::GlobalStep(std::uint32_t nodes, const Network& network, EventQueue& events)
    : count_(nodes), hop_s_(network.message_s(kMessageBytes)), events_(events), nodes_(nodes) {
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (Part& part : nodes_[node].part) part = {.numbers = {.committed = ~std::uint64_t{0}}, .missing = below(node)};
  }
}

std::uint8_t GlobalStep::below(std::uint32_t node) const {
  std::uint8_t found = 0;
  for (std::uint32_t away = 1; (node & away) == 0 && node + away < count_; away *= 2) ++found;
  return found;
}

void GlobalStep::advance(double now_s, std::uint32_t node, std::uint64_t committed, double waited_s) {
  NodeState& own = nodes_[node];
  if (own.is_under_way) {  // a test advances messages, but reports only what was already complete
    progress(now_s, node);
    return;
  }
  own.known = own.newest;
  const auto parity = static_cast<std::uint8_t>(++own.begun % 2);
  Part& part = own.part[parity];
  part.numbers.take({committed, waited_s, node});
  part.is_begun = true;
  own.is_under_way = true;
  if (count_ == 1) {
    outcome_[parity] = part.numbers;
    part.has_outcome = true;
    progress(now_s, node);
  } else if (below(node) == 0) {
    send_up(now_s, node, parity);  // nodes to which others send test for messages only in their next call
  }
}

void GlobalStep::progress(double now_s, std::uint32_t node) {
  NodeState& own = nodes_[node];
  if (!own.is_under_way) return;
  const auto parity = static_cast<std::uint8_t>(own.begun % 2);
  Part& part = own.part[parity];
  if (!part.is_sent && part.missing == 0 && count_ > 1) send_up(now_s, node, parity);
  if (!part.has_outcome) return;
  send_down(now_s, node, parity);
  own.newest = outcome_[parity];
  own.is_under_way = false;
  part = {.numbers = {.committed = ~std::uint64_t{0}}, .missing = below(node)};
}

void GlobalStep::send_up(double now_s, std::uint32_t node, std::uint8_t parity) {
  Part& part = nodes_[node].part[parity];
  part.is_sent = true;
  if (node == 0) {
    outcome_[parity] = part.numbers;
    part.has_outcome = true;
    return;
  }
  ++messages_;
  events_.add(now_s + hop_s_, EventKind::kPartialArrives, node, parity);
}

/// Sends the outcome to each node whose number is this node's number plus one higher bit.
void GlobalStep::send_down(double now_s, std::uint32_t node, std::uint8_t parity) {
  for (std::uint32_t bit = std::uint32_t{1} << std::bit_width(node); node + bit < count_; bit *= 2) {
    ++messages_;
    events_.add(now_s + hop_s_, EventKind::kOutcomeArrives, node + bit, parity);
  }
}

std::uint32_t GlobalStep::partial_arrives(std::uint32_t sender, std::uint8_t parity) {
  const std::uint32_t receiver = sender & (sender - 1);
  Part& part = nodes_[receiver].part[parity];
  part.numbers.take(nodes_[sender].part[parity].numbers);
  --part.missing;
  return receiver;
}

}  // namespace ringside
