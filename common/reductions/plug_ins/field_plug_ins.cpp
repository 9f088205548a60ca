// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/plug_ins/field_plug_ins.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "common/platform/error.hpp"
#include "common/reductions/kernels/reduction_record.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace ringside {
namespace {

constexpr std::size_t kAlignment = 64;  // the alignment of a state that ringside_reduction.h promises
constexpr std::size_t kGuardBytes = 64;
constexpr unsigned char kGuard = 0xA7;
constexpr std::size_t kMostEntryBytes = 16;  // a complex number of two doubles
constexpr std::uint64_t kFreeStateBytes = std::uint64_t{64} << 20;

static_assert(kReductionBlockRows == RINGSIDE_REDUCTION_BLOCK);
static_assert(sizeof(ringside_value) == sizeof(std::uint64_t));

/// A state that a plug-in writes, with guard bytes before and after it. If these change, the plug-in wrote outside its
/// state. With AddressSanitizer the guard bytes are poisoned, so that AddressSanitizer reports the store at once.
class GuardedState {
 public:
  explicit GuardedState(std::size_t bytes)
      : bytes_(bytes), memory_(static_cast<unsigned char*>(::operator new(total(), std::align_val_t{kAlignment}))) {
    std::memset(memory_.get(), 0, total());
    std::memset(memory_.get(), kGuard, kGuardBytes);
    std::memset(behind(), kGuard, kGuardBytes);
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(memory_.get(), kGuardBytes);
    ASAN_POISON_MEMORY_REGION(behind(), kGuardBytes);
#endif
  }
  ~GuardedState() {
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(memory_.get(), total());
#endif
  }
  GuardedState(const GuardedState&) = delete;
  GuardedState& operator=(const GuardedState&) = delete;

  void* state() const noexcept { return memory_.get() + kGuardBytes; }
  bool intact() const noexcept {
#if defined(__SANITIZE_ADDRESS__)
    return true;
#else
    const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
    return std::all_of(memory_.get(), memory_.get() + kGuardBytes, is_guard) &&
           std::all_of(behind(), behind() + kGuardBytes, is_guard);
#endif
  }
  /// Restores the guard bytes, so that a store outside the state is reported only once.
  void mend() noexcept {
    std::memset(memory_.get(), kGuard, kGuardBytes);
    std::memset(behind(), kGuard, kGuardBytes);
  }

 private:
  struct Free {
    void operator()(unsigned char* memory) const noexcept { ::operator delete(memory, std::align_val_t{kAlignment}); }
  };
  std::size_t total() const noexcept { return kGuardBytes + bytes_ + kGuardBytes; }
  unsigned char* behind() const noexcept { return memory_.get() + kGuardBytes + bytes_; }

  std::size_t bytes_;
  std::unique_ptr<unsigned char, Free> memory_;
};

}  // namespace

/// The instance of a plug-in for this field.
struct FieldPlugIns::Instance {
  std::size_t plug_in = 0;  // the index of the plug-in in the set
  const ringside_reduction* declared = nullptr;
  void* self = nullptr;
  bool created = false;  // necessary because a plug-in without settings may leave `self` null
  bool in_any_order = false;
  bool raw = false;
  bool needs_previous = false;

  std::vector<std::unique_ptr<GuardedState>> states;  // one for each thread; the first also receives the merged result
  std::unique_ptr<GuardedState> other;                // an aligned copy of the state that is being merged
  std::vector<std::byte> kept;                        // the states of all blocks, `stride` bytes each
  std::size_t stride = 0;
  std::vector<std::uint64_t> entered;  // for each thread: the step to which its state belongs (if merged in any order)
  std::uint64_t step = 0;
  bool runs = false;  // whether it runs in this step

  struct Placed {
    Result result;
    std::vector<ringside_value> values;
    std::size_t number;  // the index among the declared results
  };
  std::vector<Placed> results;
  std::vector<ringside_value> unused;  // for declared results that a field of this class does not have
  std::vector<ringside_value*> values;  // pointers in the form that `finish` receives
  // The values that were passed to `create`, which must stay valid.
  std::string variable;
  std::string unit;
  std::vector<std::uint64_t> shape;
  std::vector<ringside_reduction_setting> settings;
  ringside_reduction_field field{};
};

/// The entries that a thread passes to a plug-in in a call: a copy, either unchanged or converted to doubles. If a
/// plug-in writes to its input, this changes neither the payload, which is stored and hashed from its own memory, nor
/// the input of another plug-in. alignas(64): one cache line, and the width of a register.
struct FieldPlugIns::Lent {
  alignas(64) std::byte values[kReductionBlockRows * kMostEntryBytes];
  alignas(64) std::byte previous[kReductionBlockRows * kMostEntryBytes];
};

FieldPlugIns::FieldPlugIns(PlugInSet& set, const Schema& schema, std::size_t variable, const Catalogue& catalogue,
                           std::size_t threads, const FieldKernel& kernel)
    : set_(set), kernel_(kernel) {
  const Variable& declared = schema.variables()[variable];
  entry_bytes_ = bytes_of(declared.dtype);
  entries_ = schema.place(variable).entries;
  const auto dtype_class = static_cast<std::uint32_t>(class_of(declared.dtype));
  const std::uint64_t blocks = (entries_ + kReductionBlockRows - 1) / kReductionBlockRows;
  for (std::size_t p = 0; p < set.plug_ins().size(); ++p) {
    const PlugIn& plug_in = set.plug_ins()[p];
    if ((classes_of(plug_in.declared()) & dtype_class) == 0) continue;
    Instance& instance = *instances_.emplace_back(std::make_unique<Instance>());
    instance.plug_in = p;
    instance.declared = &plug_in.declared();
    instance.in_any_order = plug_in.is(RINGSIDE_REDUCTION_ANY_ORDER);
    instance.raw = plug_in.is(RINGSIDE_REDUCTION_RAW) || declared.dtype == DType::kF64;
    instance.needs_previous = plug_in.is(RINGSIDE_REDUCTION_NEEDS_PREVIOUS);

    const std::size_t state_bytes = plug_in.declared().state_bytes;
    for (std::size_t t = 0; t < threads; ++t) instance.states.push_back(std::make_unique<GuardedState>(state_bytes));
    instance.other = std::make_unique<GuardedState>(state_bytes);
    if (instance.in_any_order) {
      instance.entered.assign(threads, 0);
    } else {
      instance.stride = (state_bytes + 7) / 8 * 8;
      const std::uint64_t most = entries_ * entry_bytes_ / 4 + kFreeStateBytes;
      if (blocks > most / instance.stride) {
        throw usage_error(
            "{}: reduction '{}' keeps {} bytes for each of the {} blocks of '{}'; expected at most {} bytes in all, or "
            "RINGSIDE_REDUCTION_ANY_ORDER",
            plug_in.spec().path, plug_in.name(), state_bytes, blocks, declared.name, most);
      }
      instance.kept.resize(blocks * instance.stride);
    }

    std::size_t unused = 1;
    for (const ringside_reduction_result& one : plug_in.results()) unused = std::max<std::size_t>(unused, one.count);
    instance.unused.resize(unused);
    const std::vector<ResultDescription> descriptions = plug_in.descriptions();
    for (std::size_t r = 0; r < descriptions.size(); ++r) {
      const std::string full = declared.name + "." + descriptions[r].name;
      if (const Result* found = catalogue.find(full)) {
        instance.results.push_back({*found, std::vector<ringside_value>(found->count), r});
      }
    }
    instance.values.assign(descriptions.size(), instance.unused.data());
    for (Instance::Placed& placed : instance.results) instance.values[placed.number] = placed.values.data();

    instance.variable = declared.name;
    instance.unit = declared.unit;
    instance.shape = declared.shape;
    for (const auto& [key, value] : plug_in.spec().settings) instance.settings.push_back({key.c_str(), value.c_str()});
    instance.field = {.size = sizeof(ringside_reduction_field),
                      .dtype = static_cast<std::uint32_t>(declared.dtype),
                      .variable = instance.variable.c_str(),
                      .unit = instance.unit.c_str(),
                      .dims = static_cast<std::uint32_t>(instance.shape.size()),
                      .setting_count = static_cast<std::uint32_t>(instance.settings.size()),
                      .shape = instance.shape.data(),
                      .entries = entries_,
                      .settings = instance.settings.data()};
    instance.created = instance.declared->create == nullptr;
    if (instance.created || set.left_out(p)) continue;
    char why[256] = {};
    const PlugInCall call(*set.watch(), 0, p);
    if (instance.declared->create(&instance.field, &instance.self, why, sizeof why) != 0) {
      why[sizeof why - 1] = '\0';
      throw usage_error("--reduce-with {}: refused for '{}': {}", plug_in.spec().text, declared.name,
                        why[0] != '\0' ? why : "without a reason");
    }
    instance.created = true;
    set.watch()->check_descriptors(p);
  }
  if (!instances_.empty()) lent_.resize(threads);
}

FieldPlugIns::~FieldPlugIns() {
  for (const auto& instance : instances_) {
    if (instance->self == nullptr || instance->declared->destroy == nullptr || set_.left_out(instance->plug_in)) continue;
    const PlugInCall call(*set_.watch(), 0, instance->plug_in);
    instance->declared->destroy(instance->self);
  }
}

void FieldPlugIns::begin(const void* previous) noexcept {
  set_.leave_out_forked();
  previous_ = static_cast<const std::byte*>(previous);
  for (const auto& instance : instances_) {
    ++instance->step;
    instance->runs = instance->created && !set_.left_out(instance->plug_in) && (previous != nullptr || !instance->needs_previous);
  }
}

// Memory traffic: our own reductions have just brought the block into the cache, so only the previous step is read from
// memory, if a plug-in needs it, and `stride` bytes are written for each block. The copies for the plug-in stay in the
// cache.
void FieldPlugIns::reduce(std::size_t thread, const void* values, std::uint64_t first_entry,
                          std::uint64_t entries) noexcept {
  for (std::uint64_t done = 0; done < entries; done += kReductionBlockRows) {
    const std::uint64_t first = first_entry + done;
    const std::size_t count = std::min<std::uint64_t>(kReductionBlockRows, entries - done);
    const std::byte* const now = static_cast<const std::byte*>(values) + done * entry_bytes_;
    for (const auto& instance : instances_) {
      if (!instance->runs) continue;
      Lent& lent = lent_[thread];
      lend(*instance, now, count, lent.values);
      const bool with_previous = instance->needs_previous && previous_ != nullptr;
      if (with_previous) lend(*instance, previous_ + first * entry_bytes_, count, lent.previous);
      call_block(*instance, thread,
                 {.size = sizeof(ringside_reduction_block),
                  .reserved = 0,
                  .values = lent.values,
                  .previous = with_previous ? lent.previous : nullptr,
                  .count = count,
                  .first_index = first});
    }
  }
}

void FieldPlugIns::lend(const Instance& instance, const std::byte* entries, std::size_t count,
                        std::byte* to) const noexcept {
  if (instance.raw) {
    std::memcpy(to, entries, count * entry_bytes_);
  } else {
    kernel_.widen(entries, count, reinterpret_cast<double*>(to));
  }
}

void FieldPlugIns::call_block(Instance& instance, std::size_t thread, const ringside_reduction_block& block) noexcept {
  GuardedState& state = *instance.states[thread];
  {
    const PlugInCall call(*set_.watch(), thread, instance.plug_in);
    const bool begins = !instance.in_any_order || instance.entered[thread] != instance.step;
    if (begins) instance.declared->init(instance.self, state.state());
    instance.declared->block(instance.self, state.state(), &block);
  }
  if (set_.plug_ins().size() > 1) set_.watch()->check_descriptors(instance.plug_in);  // if alone, `finish` checks it
  if (instance.in_any_order) {
    instance.entered[thread] = instance.step;
  } else {
    const std::uint64_t number = block.first_index / kReductionBlockRows;
    std::memcpy(instance.kept.data() + number * instance.stride, state.state(), instance.declared->state_bytes);
  }
  if (!state.intact()) {
    set_.leave_out(instance.plug_in, PlugInHarm::kWroteOutside);
    state.mend();
  }
}

/// Merges all states into the state of thread 0.
void FieldPlugIns::merge_all(Instance& instance, std::size_t block_count) noexcept {
  const std::size_t bytes = instance.declared->state_bytes;
  void* const total = instance.states[0]->state();
  if (instance.in_any_order) {
    if (instance.entered[0] != instance.step) instance.declared->init(instance.self, total);
    for (std::size_t thread = 1; thread < instance.states.size(); ++thread) {
      if (instance.entered[thread] != instance.step) continue;
      instance.declared->merge(instance.self, total, instance.states[thread]->state());
    }
    return;
  }
  std::memcpy(total, instance.kept.data(), bytes);
  for (std::size_t block = 1; block < block_count; ++block) {
    std::memcpy(instance.other->state(), instance.kept.data() + block * instance.stride, bytes);
    instance.declared->merge(instance.self, total, instance.other->state());
  }
}

void FieldPlugIns::finish(std::span<std::uint64_t> words) noexcept {
  const std::uint64_t blocks = (entries_ + kReductionBlockRows - 1) / kReductionBlockRows;
  for (const auto& each : instances_) {
    Instance& instance = *each;
    std::uint64_t absent = ~std::uint64_t{0};
    for (Instance::Placed& placed : instance.results) std::fill(placed.values.begin(), placed.values.end(), ringside_value{});
    if (instance.runs && !set_.left_out(instance.plug_in)) {
      const PlugInCall call(*set_.watch(), 0, instance.plug_in);
      merge_all(instance, blocks);
      absent = instance.declared->finish(instance.self, instance.states[0]->state(), instance.values.data());
      set_.watch()->check_descriptors(instance.plug_in);
    }
    if (!instance.states[0]->intact() || !instance.other->intact()) {
      set_.leave_out(instance.plug_in, PlugInHarm::kWroteOutside);
      absent = ~std::uint64_t{0};
    }
    for (const Instance::Placed& placed : instance.results) {
      const Result& result = placed.result;
      const bool present = (absent >> placed.number & 1) == 0;
      if (present) words[result.bit / 64] |= std::uint64_t{1} << (result.bit % 64);
      for (std::uint32_t i = 0; i < result.count; ++i) {
        words[result.word + i] = 0;
        if (present) std::memcpy(&words[result.word + i], &placed.values[i], sizeof(std::uint64_t));
      }
    }
  }
}

}  // namespace ringside
