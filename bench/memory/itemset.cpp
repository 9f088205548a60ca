// SPDX-License-Identifier: BSD-3-Clause
// Frequent itemsets by pattern growth (Han, Pei, Yin, "Mining frequent patterns without candidate generation", SIGMOD
// 2000), on Zipf-distributed baskets: the work of PARSEC's freqmine. Every tree node is a separate allocation (with
// --blocks, a part of a block), so that pointers lead to places all over the heap. The program uses only ordinary
// memory; LD_PRELOAD (`ringside-memory run`) can add a library.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/memory/far_array.hpp"
#include "bench/memory/random.hpp"
#include "bench/memory/workload.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"

namespace {

using namespace ringside::bench;

constexpr std::uint32_t kItems = 1000;
constexpr std::uint64_t kNodeBytes = 48;  // the size of a node, with malloc's overhead
double support_share = 0.02;
int most_items = 4;
bool blocks = false;

struct Node {
  std::uint32_t item = 0;
  std::uint32_t count = 0;
  Node* parent = nullptr;
  Node* first_child = nullptr;
  Node* sibling = nullptr;
  Node* same_item = nullptr;
};

/// Allocates a tree's nodes: each one separately, or in blocks whose size doubles up to 1 MiB, as in freqmine.
class Nodes {
 public:
  Nodes() = default;
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes() {
    for (Node* block : blocks_) delete[] block;
  }
  Node* add(const Node& node) {
    if (!blocks) return new Node(node);
    if (used_ == size_) {
      size_ = std::min(size_ == 0 ? 64 : 2 * size_, kMostInBlock);
      blocks_.push_back(new Node[size_]);
      used_ = 0;
    }
    Node* added = blocks_.back() + used_++;
    *added = node;
    return added;
  }

 private:
  // Just above 1 MiB, because `ringside-memory run` puts allocations of at least 1 MiB into the arena.
  static constexpr std::size_t kMostInBlock = (std::size_t{1} << 20) / sizeof(Node) + 1;
  std::vector<Node*> blocks_;
  std::size_t used_ = 0, size_ = 0;  // in the last block: the number of used nodes and of all nodes
};

/// A tree of baskets. The items of a basket are in the order of their frequency, so that baskets share their
/// beginnings.
class Tree {
 public:
  explicit Tree(std::uint32_t items) : of_item_(items, nullptr), count_(items, 0) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    if (blocks) return;  // nodes_in_ frees them
    for (Node* node : of_item_) {
      while (node != nullptr) delete std::exchange(node, node->same_item);
    }
  }

  template <class Items>
  void add(const Items& ascending, std::uint32_t count) {
    Node* at = &root_;
    for (const std::uint32_t item : ascending) {
      at = child(at, item);
      at->count += count;
      count_[item] += count;
    }
  }
  std::uint64_t nodes() const { return nodes_; }
  std::uint32_t count(std::uint32_t item) const { return count_[item]; }
  const Node* first(std::uint32_t item) const { return of_item_[item]; }

 private:
  Node* child(Node* of, std::uint32_t item) {
    for (Node* found = of->first_child; found != nullptr; found = found->sibling) {
      if (found->item == item) return found;
    }
    Node* made =
        nodes_in_.add({.item = item, .parent = of, .sibling = of->first_child, .same_item = of_item_[item]});
    of->first_child = of_item_[item] = made;
    ++nodes_;
    return made;
  }

  Node root_;
  Nodes nodes_in_;
  std::vector<Node*> of_item_;
  std::vector<std::uint32_t> count_;
  std::uint64_t nodes_ = 0;
};

struct Found {
  std::uint64_t itemsets = 0;
  std::uint64_t checksum = 0;
};

// Finds all frequent sets that end with the items of `suffix` (its hash) and continue with more frequent items.
void mine(const Tree& tree, std::uint32_t items, std::uint32_t support, std::uint64_t suffix, int depth, Found& found) {
  for (std::uint32_t item = items; item-- > 0;) {
    if (tree.count(item) < support) continue;
    const std::uint64_t itemset = mix(suffix ^ item);
    ++found.itemsets;
    found.checksum += checked(itemset, std::uint64_t{tree.count(item)});
    if (depth == most_items || item == 0) continue;
    Tree conditional(item);
    std::vector<std::uint32_t> path;
    for (const Node* node = tree.first(item); node != nullptr; node = node->same_item) {
      path.clear();
      for (const Node* up = node->parent; up->parent != nullptr; up = up->parent) path.push_back(up->item);
      std::ranges::reverse(path);
      conditional.add(path, node->count);
    }
    mine(conditional, item, support, itemset, depth + 1, found);
  }
}

Outcome measure(const Workload& workload) {
  arrays_reserved();
  const Zipf zipf(kItems, 0.8);
  Tree tree(kItems);
  std::uint32_t baskets = 0;
  std::vector<std::uint32_t> basket;
  // Zipf ranks are already in the order of frequency, so no first pass has to count the items. Baskets are added until
  // the nodes have the requested size.
  const double build_s = timed_s([&] {
    for (; tree.nodes() * kNodeBytes < workload.data_bytes; ++baskets) {
      std::uint64_t state = mix(workload.seed ^ mix(baskets));
      basket.resize(6 + (state & 15));
      for (std::uint32_t& item : basket) {
        item = static_cast<std::uint32_t>(zipf.rank([&] { return state = mix(state); }) - 1);
      }
      std::ranges::sort(basket);
      basket.erase(std::ranges::unique(basket).begin(), basket.end());
      tree.add(basket, 1);
    }
  });
  Found found;
  const auto support = static_cast<std::uint32_t>(std::max(2.0, support_share * baskets));
  const double mine_s = timed_s([&] { mine(tree, kItems, support, 0, 1, found); });
  return {{{"total_s", build_s + mine_s},
           {"build_s", build_s},
           {"mine_s", mine_s},
           {"baskets", baskets},
           {"nodes", tree.nodes()},
           {"itemsets", found.itemsets}},
          found.checksum};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv,
                     {"itemset", "Finds frequent itemsets with one thread in a tree that may be larger than DRAM",
                      [](ringside::CommandLine& line) {
                        line.option("--support", support_share,
                                    "A set is frequent if at least this share of the baskets contains it")
                            .check(ringside::number_within(1e-6, 1));
                        line.flag("--blocks", blocks, "Allocate the nodes in blocks of up to 1 MiB, not one by one");
                        line.option("--most-items", most_items, "The largest number of items of a set")
                            .check(ringside::whole_number_within(1, 100));
                      },
                      measure});
}
