// Transitions by bytes: see transitions.h.

#include "cfg_recogniser/transitions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/byte_set.h"
#include "base/work.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

namespace {

// A kernel is not divided if an item that only reads has more neighbours.
constexpr std::size_t kMostNeighbours = 8;

}  // namespace

// --- Rows --------------------------------------------------------------------

// In a state of literals each byte is a class of its own, and all others are
// dead.
void Transitions::begin_row(State& state) {
  state.row_begun = true;
  state.only_literals = std::ranges::all_of(state.items, [&](const Item& item) {
    return facts_.state_of(item).action == Action::kBytes;
  });
  if (!state.only_literals) return;
  state.row.set_rest(0);
  for (const Item& item : state.items) {
    memory_.add(state.row.set(facts_.next_byte(item), StateRow::kUnknown));
  }
}

// Computes the transition for the class of `byte`, that is for the least byte
// of it; the entry of another byte is a copy.
Configuration Transitions::learn_step(Configuration config, std::uint8_t byte) {
  if (!memory_.within_limits()) return {};
  State& state = states_[config.lex];
  if (!state.row_begun) begin_row(state);
  if (state.row[byte] == 0) return {};
  // The literals beside a base have classes of their own, too.
  const bool alone =
      state.only_literals ||
      (state.base != nullptr && base::has_byte(state.base->others, byte));
  const std::uint8_t least =
      alone ? byte : bytes_.byte_classes(LexId{config.lex})[byte];
  if (least != byte) {
    const Configuration next = step(config, least);
    memory_.add(state.row.set(byte, state.row[least]));
    return next;
  }
  scanner_.scan(state.items, {byte}, scanned_);
  if (scanned_.empty()) {
    memory_.add(state.row.set(byte, 0));
    return {};
  }
  return learn_kernel(config, byte, scanned_);
}

// `kernel`: what `byte` leads to, with slots of the state.  If the closure is
// pure and stays in the frame, the row entry is a state and holds in every
// frame; else the entry says that the frame decides.
Configuration Transitions::learn_kernel(Configuration config, std::uint8_t byte,
                                        Items& kernel) {
  kernel_by_slots_.number(kernel, met_);
  kernel_by_slots_.set_shape(renamings_.intern_shape(kernel));
  const std::span<const ContextId> slots = states_.frame(config.frame);
  kernel_.assign(kernel_by_slots_.list());
  kernel_.replace(slots);
  const MadeOfKernel next = find_or_make(kernel_, slots);
  StateRow& row = states_[config.lex].row;
  if (next.pure && !next.to.dead() && !is_inside(next.to)) {
    const Configuration ordered = next.to.frame == config.frame
                                      ? next.to
                                      : states_.reorder(next.to, slots);
    if (ordered.frame == config.frame) {
      memory_.add(row.set(byte, ordered.lex));
      return ordered;
    }
  }
  if (memory_.overflowed()) return {};
  const auto [after, added] = kernels_after_.intern(kernel_by_slots_.list());
  if (added) {
    memory_.add(kernels_after_.bytes_of(kernel_by_slots_.list().size()));
  }
  memory_.add(row.set(byte, kByFrame | after));
  read_sets_.track(next.read_set);
  return next.to;
}

Configuration Transitions::step_in_frame(std::uint32_t frame, KernelId kernel) {
  kernel_.assign(kernels_after_[kernel]);
  kernel_.replace(states_.frame(frame));
  const MadeOfKernel made = find_or_make(kernel_, kernel_.contexts());
  read_sets_.track(made.read_set);
  return made.to;
}

// --- Kernels -----------------------------------------------------------------

MadeOfKernel Transitions::find_or_make(const NumberedKernel& kernel,
                                       std::span<const ContextId> order) {
  const std::uint32_t known = kernels_.find(kernel.list());
  if (known != kernels_.kNone) return made_of_[known];
  MadeOfKernel made;
  bool closed = false;
  if (const auto renamed = renamings_.rename(kernel)) {
    made = *renamed;
  } else {
    made = make_by_parts(kernel, order);
    closed = made.to.dead();
    if (closed) made = make_by_closure(kernel, order);
  }
  if (memory_.may_store()) {
    kernels_.intern_new(kernel.list());
    made_of_.push_back(made);
    memory_.add(kernels_.bytes_of(kernel.list().size()) + sizeof(MadeOfKernel));
  }
  if (closed) renamings_.learn(kernel, made.to, trace_);
  return made;
}

MadeOfKernel Transitions::make_by_closure(const NumberedKernel& kernel,
                                          std::span<const ContextId> order) {
  if (!memory_.within_limits() || !base::spend_work()) return {};
  const std::span<const Item> shape = renamings_.shape(kernel.shape());
  kernel_items_.assign(shape.begin(), shape.end());
  for (Item& item : kernel_items_) item.context = kernel.context_of(item);
  MadeOfKernel made;
  made.to = configurations_.make(kernel_items_, order, trace_);
  made.read_set = read_sets_.intern(trace_.reads);
  made.pure = trace_.pure;
  return made;
}

// These are the items that a closure keeps and adds nothing for.
bool Transitions::only_reads(const Item& item) const {
  const NetworkState& state = facts_.state_of(item);
  switch (state.action) {
    case Action::kBytes:
    case Action::kClass:
    case Action::kTokens:
      return true;
    case Action::kCountClass:  // above the minimum, counts are compared
      return item.count < state.min ||
             (item.count == state.min && item.inner != 0);
    default:
      return false;
  }
}

// The closure of a kernel is that of the items from which something follows,
// and the items that only read.  A closure also drops items that others make
// redundant, which are in the same place of the network; so if one that only
// reads is in the place of another item, the kernel is not divided.
//
// Items that only read neither read a context nor make one.  So the
// closure of the kernel is pure exactly if that of the part is, and both have
// read the same contexts.
MadeOfKernel Transitions::make_by_parts(const NumberedKernel& kernel,
                                        std::span<const ContextId> order) {
  const std::span<const Item> shape = renamings_.shape(kernel.shape());
  const auto reads = [&](const Item& item) { return only_reads(item); };
  if (std::ranges::none_of(shape, reads)) return {};
  reading_.clear();
  others_.clear();
  part_items_.clear();
  for (const Item& item : shape) {
    (reads(item) ? reading_ : others_).push_back(item);
  }
  for (Item& item : reading_) item.context = kernel.context_of(item);
  MadeOfKernel made{.pure = true};
  const bool has_part = !others_.empty();
  if (has_part) {
    made = make_part(kernel, others_);
    if (made.to.dead() || is_inside(made.to)) return {};
    const Configuration known = bases_.find(kernel.shape(), made, reading_);
    if (!known.dead()) {
      made.to = known;
      return made;
    }
    states_.put_in_frame(states_[made.to.lex].items, made.to.frame,
                         part_items_);
  }
  if (!base::spend_work(1 + (part_items_.size() + reading_.size()) / 8) ||
      !merge_reading(part_items_, reading_)) {
    return {};
  }
  contents_.kernel.clear();
  if (facts_.counts_tokens) {
    for (Item item : shape) {
      item.context = kernel.context_of(item);
      contents_.kernel.push_back(item);
    }
  }
  const Configuration to = states_.intern(contents_, made.pure, order);
  if (has_part) bases_.note(kernel.shape(), made, reading_, to);
  made.to = to;
  return made;
}

// The configuration of a part of the kernel.  Nothing in a part only reads, so
// it is not divided again, and nothing else uses kernel_of_part_ meanwhile.
MadeOfKernel Transitions::make_part(const NumberedKernel& kernel, Items& part) {
  kernel_of_part_.number(part, met_);
  kernel_of_part_.set_shape(renamings_.intern_shape(part));
  kernel_of_part_.replace(kernel.contexts());
  return find_or_make(kernel_of_part_, kernel_of_part_.contexts());
}

bool Transitions::merge_reading(Items& items, Items& reading) {
  const auto place = [](const Item& item) {
    return std::pair(item.state, item.inner);
  };
  std::ranges::sort(reading);
  if (!std::ranges::is_sorted(items)) std::ranges::sort(items);
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (i > 0 && place(reading[i - 1]) == place(reading[i])) return false;
    auto at =
        std::ranges::lower_bound(items, reading[i].state, {}, &Item::state);
    for (std::size_t n = 0; at != items.end() && at->state == reading[i].state;
         ++at) {
      if (++n > kMostNeighbours || place(*at) == place(reading[i])) {
        return false;
      }
    }
  }
  contents_.items.resize(items.size() + reading.size());
  std::ranges::merge(items, reading, contents_.items.begin());
  return true;
}

}  // namespace parlance::cfg_recogniser
